// Short files that are written whole, without a DataNode: the bytes stand in extended attributes of
// an empty file.
//
// A file with bytes takes HDFS 50 ms or 450, as its client may have to wait until the NameNode has
// heard of the last block; an empty file and its attributes are entries of the NameNode's edit log
// alone. A file appears with all of its bytes or not at all: it is made under another name and
// renamed. Where the file system refuses attributes, and for what is long, it is a file like any
// other, and read as one. docs/decisions/0006-journal-on-hdfs.md has the measurements.
#pragma once

#include <cstddef>
#include <memory>
#include <random>
#include <string>

#include "core/model/hdfs.h"
#include "core/model/random_stream.h"
#include "wire/webhdfs/numbered_attributes.h"
#include "wire/webhdfs/webhdfs_operations.h"

namespace tfyarn::wire {

class QuickFiles : public std::enable_shared_from_this<QuickFiles> {
 public:
  /// Longer ones would take more calls than they save time.
  static constexpr std::size_t kLongest = 8 * kLongestAttribute;

  explicit QuickFiles(WebHdfsOperations operations) : operations_(std::move(operations)) {}

  /// Errors: kAlreadyExists without `overwrite`; after a broken connection it may be this call's
  /// own.
  void Create(const std::string& path, std::string bytes, bool overwrite,
              WebHdfsAnswer<hdfs::Done> answer);
  /// The whole file, however it was written.
  void Read(const std::string& path, WebHdfsAnswer<std::string> answer);

 private:
  class Creating;

  WebHdfsOperations operations_;
  RandomStream random_{std::random_device{}(), "names of parts"};
  bool attributes_work_ = true;  ///< Until the file system has refused one.
};

}  // namespace tfyarn::wire
