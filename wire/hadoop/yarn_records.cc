#include "wire/hadoop/yarn_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "wire/hadoop/launch_quoting.h"
#include "wire/hadoop/yarn_errors.h"

namespace tfyarn::hadoop {
namespace {

/// Longest name of a host. Source: RFC 1035, 2.3.4.
constexpr std::size_t kMaxHost = 253;

/// Our enumerators count from 0, these of YARN from 1. An unset one, or one of a later version, is
/// our first.
template <class Ours, class Theirs>
Ours FromOne(bool has, Theirs theirs) {
  return has ? static_cast<Ours>(static_cast<int>(theirs) - 1) : Ours{};
}
template <class Theirs, class Ours>
Theirs ToOne(Ours ours) {
  return static_cast<Theirs>(static_cast<int>(ours) + 1);
}

std::int64_t Amount(std::int64_t value) {
  return std::max<std::int64_t>(value, 0);
}

void WriteAmount(std::string_view name, std::int64_t amount, pb::Resource& out) {
  pb::ResourceInformation& entry = *out.add_resource_value_map();
  entry.set_key(std::string(name));
  entry.set_value(Amount(amount));
  // Without units it is in those of the type, as amounts here are.
  entry.set_type(pb::RESOURCE_TYPE_COUNTABLE);
}

void WriteAt(const FileSystemAddress& file_system, const yarn::LocalResource& in,
             pb::LocalResource& out) {
  pb::Url& url = *out.mutable_resource();
  url.set_scheme(file_system.scheme);
  url.set_host(file_system.server.host);
  // Unset would read as port 0; none is -1, as in java.net.URI.
  url.set_port(file_system.server.port == 0 ? -1 : file_system.server.port);
  url.set_file(in.path);
  out.set_size(in.size);
  out.set_timestamp(in.timestamp);
  out.set_type(in.archive ? pb::LOCAL_RESOURCE_TYPE_ARCHIVE : pb::LOCAL_RESOURCE_TYPE_FILE);
  out.set_visibility(in.shared ? pb::LOCAL_RESOURCE_VISIBILITY_PRIVATE
                               : pb::LOCAL_RESOURCE_VISIBILITY_APPLICATION);
}

}  // namespace

// ---------------------------------------------------------------- writing

void Write(const ApplicationId& in, pb::ApplicationId& out) {
  out.set_id(in.id);
  out.set_cluster_timestamp(in.cluster_timestamp);
}

void Write(const ApplicationAttemptId& in, pb::ApplicationAttemptId& out) {
  Write(in.application, *out.mutable_application_id());
  out.set_attempt_id(in.attempt);
}

void Write(const ContainerId& in, pb::ContainerId& out) {
  Write(in.application_attempt, *out.mutable_app_attempt_id());
  out.set_id(in.id);
}

void Write(const NodeId& in, pb::NodeId& out) {
  out.set_host(in.host);
  out.set_port(in.port);
}

void Write(const Resource& in, pb::Resource& out) {
  out.set_memory(Amount(in.memory_mb));
  out.set_virtual_cores(static_cast<std::int32_t>(
      std::min<std::int64_t>(Amount(in.vcores), std::numeric_limits<std::int32_t>::max())));
  if (in.gpus != 0) WriteAmount(kGpuResourceName, in.gpus, out);
  for (const auto& [name, amount] : in.others) WriteAmount(name, amount, out);
}

void Write(const HadoopToken& in, pb::Token& out) {
  out.set_identifier(in.identifier);
  out.set_password(in.password);
  out.set_kind(in.kind);
  out.set_service(in.service);
}

void Write(const yarn::Container& in, const TokenStore& tokens, pb::Container& out) {
  Write(in.id, *out.mutable_id());
  Write(in.node, *out.mutable_node_id());
  Write(in.resource, *out.mutable_resource());
  out.mutable_priority()->set_priority(in.priority);
  out.set_allocation_request_id(in.allocation_request_id);
  if (const HadoopToken* token = tokens.Find(in.token))
    Write(*token, *out.mutable_container_token());
}

void Write(const yarn::ContainerStatus& in, pb::ContainerStatus& out) {
  Write(in.id, *out.mutable_container_id());
  out.set_state(ToOne<pb::ContainerState>(in.state));
  out.set_exit_status(in.exit_status);
  out.set_diagnostics(in.diagnostics);
}

void Write(const yarn::NodeReport& in, pb::NodeReport& out) {
  Write(in.node, *out.mutable_node_id());
  out.set_rack_name(in.rack);
  out.set_node_state(ToOne<pb::NodeState>(in.state));
  Write(in.capability, *out.mutable_capability());
  Write(in.used, *out.mutable_used());
  if (!in.partition.empty()) out.add_node_labels(in.partition);
}

void Write(const yarn::ResourceRequest& in, pb::ResourceRequest& out) {
  // A row without a priority or a name is taken, and breaks the RM's books for good.
  out.mutable_priority()->set_priority(in.priority.value_or(0));
  out.set_resource_name(in.resource_name.empty() ? "*" : in.resource_name);
  Write(in.capability, *out.mutable_capability());
  out.set_num_containers(std::max(in.num_containers, 0));
  out.set_relax_locality(in.relax_locality);
  if (in.node_label_expression) out.set_node_label_expression(*in.node_label_expression);
  out.set_allocation_request_id(in.allocation_request_id);
}

void Write(const yarn::RpcError& in, pb::SerializedException& out) {
  out.set_message(in.message);
  out.set_class_name(std::string(ExceptionOfCode(in.code)));
}

Expected<void> Write(const yarn::ContainerLaunchContext& in, const LaunchTerms& terms,
                     pb::ContainerLaunchContext& out) {
  const auto text = QuoteLaunch(in.command, in.environment);
  if (!text) return tl::unexpected(text.error());
  for (const std::string& line : text->command) out.add_command(line);
  for (const auto& [name, value] : text->environment) {
    pb::StringStringEntry& entry = *out.add_environment();
    entry.set_key(name);
    entry.set_value(value);
  }
  for (const auto& [name, resource] : in.local_resources) {
    pb::LocalResourceEntry& entry = *out.add_local_resources();
    entry.set_key(name);
    WriteAt(terms.file_system, resource, *entry.mutable_value());
  }
  if (!terms.credentials.empty()) out.set_tokens(terms.credentials);
  return {};
}

void Write(const yarn::ApplicationReport& in, pb::ApplicationReport& out) {
  Write(in.application, *out.mutable_application_id());
  out.set_yarn_application_state(ToOne<pb::ApplicationState>(in.state));
  out.set_final_application_status(static_cast<pb::FinalStatus>(in.final_status));
  Write(ApplicationAttemptId{.application = in.application, .attempt = in.current_attempt},
        *out.mutable_current_application_attempt_id());
  out.set_diagnostics(in.diagnostics);
  out.set_tracking_url(in.tracking_url);
}

// ---------------------------------------------------------------- reading

void Reader::Need(bool present, std::string_view what) {
  if (!present && fault_.empty()) fault_ = fmt::format("{}: {} is missing", message_, what);
}

template <class Number>
Number Reader::NotNegative(Number value, std::string_view what) {
  if (value < 0 && fault_.empty())
    fault_ = fmt::format("{}: {} is {}; least is 0", message_, what, value);
  return value;
}

ApplicationId Reader::Application(const pb::ApplicationId& in) {
  Need(in.has_id() && in.has_cluster_timestamp(), "application id");
  return {.cluster_timestamp = NotNegative(in.cluster_timestamp(), "application's timestamp"),
          .id = NotNegative(in.id(), "application's id")};
}

ApplicationAttemptId Reader::Attempt(const pb::ApplicationAttemptId& in) {
  return {.application = Application(in.application_id()), .attempt = in.attempt_id()};
}

ContainerId Reader::Container(const pb::ContainerId& in) {
  Need(in.has_app_attempt_id(), "container's attempt");
  const ApplicationAttemptId attempt = Attempt(in.app_attempt_id());
  NotNegative(attempt.attempt, "container's attempt");
  return {.application_attempt = attempt, .id = NotNegative(in.id(), "container's id")};
}

NodeId Reader::Node(const pb::NodeId& in) {
  Need(!in.host().empty() && in.host().size() <= kMaxHost, "node's host");
  Need(in.port() >= 0 && in.port() <= std::numeric_limits<std::uint16_t>::max(), "node's port");
  return {.host = in.host(), .port = in.port()};
}

Resource Read(const pb::Resource& in) {
  Resource out{.memory_mb = in.memory(), .vcores = in.virtual_cores()};
  for (const pb::ResourceInformation& entry : in.resource_value_map()) {
    // Fields 1 and 2 count; Java repeats them here.
    if (entry.key() == "memory-mb" || entry.key() == "vcores") continue;
    out.Set(entry.key(), entry.value());
  }
  return out;
}

HadoopToken Read(const pb::Token& in) {
  return {.identifier = in.identifier(),
          .password = in.password(),
          .kind = in.kind(),
          .service = in.service()};
}

yarn::Container Reader::GrantedContainer(const pb::Container& in, TokenStore& tokens) {
  yarn::Container out{.id = Container(in.id()),
                      .node = Node(in.node_id()),
                      .resource = Read(in.resource()),
                      .priority = in.priority().priority(),
                      .allocation_request_id = in.allocation_request_id(),
                      .token = {}};
  if (in.has_container_token()) out.token = tokens.Keep(Read(in.container_token()));
  return out;
}

yarn::ContainerStatus Reader::Status(const pb::ContainerStatus& in) {
  return {.id = Container(in.container_id()),
          .state = FromOne<yarn::ContainerState>(in.has_state(), in.state()),
          .exit_status = in.exit_status(),
          .diagnostics = in.diagnostics()};
}

yarn::NodeReport Reader::Report(const pb::NodeReport& in) {
  return {.node = Node(in.node_id()),
          .rack = in.rack_name(),
          .state = FromOne<yarn::NodeState>(in.has_node_state(), in.node_state()),
          .capability = Read(in.capability()),
          .used = Read(in.used()),
          .partition = in.node_labels().empty() ? std::string() : in.node_labels(0)};
}

yarn::ResourceRequest Reader::Row(const pb::ResourceRequest& in) {
  Need(in.has_resource_name(), "a row's resource name");
  yarn::ResourceRequest out{.priority = {},
                            .resource_name = in.resource_name(),
                            .capability = Read(in.capability()),
                            .num_containers = in.num_containers(),
                            .relax_locality = in.relax_locality(),
                            .node_label_expression = {},
                            .allocation_request_id = in.allocation_request_id()};
  if (in.has_priority()) out.priority = in.priority().priority();
  if (in.has_node_label_expression()) out.node_label_expression = in.node_label_expression();
  return out;
}

yarn::ApplicationReport Reader::Report(const pb::ApplicationReport& in) {
  return {.application = Application(in.application_id()),
          .state = FromOne<yarn::YarnApplicationState>(in.has_yarn_application_state(),
                                                       in.yarn_application_state()),
          .final_status = static_cast<yarn::FinalApplicationStatus>(in.final_application_status()),
          .current_attempt = in.has_current_application_attempt_id()
                                 ? in.current_application_attempt_id().attempt_id()
                                 : -1,
          .diagnostics = in.diagnostics(),
          .tracking_url = in.tracking_url()};
}

yarn::ContainerLaunchContext Reader::LaunchContext(const pb::ContainerLaunchContext& in) {
  yarn::ContainerLaunchContext out;
  for (const pb::LocalResourceEntry& entry : in.local_resources()) {
    const pb::LocalResource& value = entry.value();
    Need(value.has_resource() && value.has_type() && value.has_visibility(),
         "a local resource's address, type or visibility");
    out.local_resources[entry.key()] = {
        .path = value.resource().file(),
        .size = value.size(),
        .timestamp = value.timestamp(),
        .archive = value.type() == pb::LOCAL_RESOURCE_TYPE_ARCHIVE,
        .shared = value.visibility() != pb::LOCAL_RESOURCE_VISIBILITY_APPLICATION};
  }
  for (const pb::StringStringEntry& entry : in.environment())
    out.environment[entry.key()] = entry.value();
  out.command.assign(in.command().begin(), in.command().end());
  return out;
}

LaunchTerms Reader::Terms(const pb::ContainerLaunchContext& in) {
  LaunchTerms out{.file_system = {}, .credentials = in.tokens()};
  if (in.local_resources().empty()) return out;
  const pb::Url& url = in.local_resources(0).value().resource();
  out.file_system = {.scheme = url.scheme(),
                     .server = {.host = url.host(), .port = std::max(url.port(), 0)}};
  return out;
}

yarn::RpcError Reader::Exception(const pb::SerializedException& in) {
  return {.code = CodeOfException(in.class_name()), .message = in.message()};
}

}  // namespace tfyarn::hadoop
