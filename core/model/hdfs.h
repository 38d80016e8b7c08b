// HDFS as the product uses it: whole files, appends and questions about paths.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/model/describe.h"

namespace tfyarn::hdfs {

enum class HdfsErrorCode {
  kUnavailable,  ///< NameNode does not answer. Repeat.
  kSafeMode,     ///< Read-only for now. Repeat.
  kNotFound,
  kAlreadyExists,
  kQuotaExceeded,  ///< Permanent until a user makes room.
  kAccessDenied,
  kInvalidPath,
  kLeaseLost,  ///< Another writer has taken the file.
};
BOOST_DESCRIBE_ENUM(HdfsErrorCode, kUnavailable, kSafeMode, kNotFound, kAlreadyExists,
                    kQuotaExceeded, kAccessDenied, kInvalidPath, kLeaseLost)

struct HdfsError {
  HdfsErrorCode code = HdfsErrorCode::kUnavailable;
  std::string message;
};
BOOST_DESCRIBE_STRUCT(HdfsError, (), (code, message))

/// Writes a whole file. In the simulator `bytes` may be empty and `size` says how large the file
/// is.
struct CreateRequest {
  std::string path;
  std::string bytes;
  std::int64_t size = 0;  ///< >= bytes.size().
  bool overwrite = true;
};
BOOST_DESCRIBE_STRUCT(CreateRequest, (), (path, bytes, size, overwrite))
/// Appends, creating the file when it is absent.
struct AppendRequest {
  std::string path;
  std::string bytes;
  std::string writer;  ///< kLeaseLost when another one has taken the file; "" = not named.
};
BOOST_DESCRIBE_STRUCT(AppendRequest, (), (path, bytes, writer))
struct ReadRequest {
  std::string path;
  std::string writer;  ///< Not "": takes the file, there or not yet, from its writer so far.
};
BOOST_DESCRIBE_STRUCT(ReadRequest, (), (path, writer))
struct GetFileStatusRequest {
  std::string path;
};
BOOST_DESCRIBE_STRUCT(GetFileStatusRequest, (), (path))
struct MkdirsRequest {
  std::string path;
};
BOOST_DESCRIBE_STRUCT(MkdirsRequest, (), (path))
struct DeleteRequest {
  std::string path;
  bool recursive = false;
};
BOOST_DESCRIBE_STRUCT(DeleteRequest, (), (path, recursive))

struct Done {};
BOOST_DESCRIBE_STRUCT(Done, (), ())
struct ReadResponse {
  std::string bytes;
};
BOOST_DESCRIBE_STRUCT(ReadResponse, (), (bytes))
struct FileStatus {
  std::string path;
  bool directory = false;
  std::int64_t size = 0;
  std::int64_t modification_time = 0;  ///< ms since 1970.
};
BOOST_DESCRIBE_STRUCT(FileStatus, (), (path, directory, size, modification_time))

using HdfsRequest = std::variant<CreateRequest, AppendRequest, ReadRequest, GetFileStatusRequest,
                                 MkdirsRequest, DeleteRequest>;
/// CreateRequest answers FileStatus; Append, Mkdirs, Delete answer Done.
using HdfsResponse = std::variant<HdfsError, Done, ReadResponse, FileStatus>;

}  // namespace tfyarn::hdfs
