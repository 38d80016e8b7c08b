// The client's end of DIGEST-MD5 with a Hadoop token, by Cyrus SASL.
//
// Cyrus loads its mechanisms from files when they are first used: libsasl2-modules has to be
// installed, or SASL_PATH has to name their folder. DIGEST-MD5 is obsolete (RFC 6331); Hadoop's
// tokens know nothing else.
#pragma once

#include <memory>
#include <string>

#include "core/model/error.h"
#include "wire/hadoop/sasl_mechanism.h"
#include "wire/hadoop/token.h"

namespace tfyarn::hadoop {

/// `service` and `host`: as the server offers them, "" and "default" for RPC.
/// Errors: kFailedPrecondition when Cyrus SASL or its DIGEST-MD5 is not installed.
[[nodiscard]] Expected<std::unique_ptr<SaslMechanism>> MakeDigestMd5Client(
    const HadoopToken& token, const std::string& service, const std::string& host);

}  // namespace tfyarn::hadoop
