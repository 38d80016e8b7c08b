// Files of which at most one writer may believe that it writes them, on HDFS as it is.
//
// HDFS fences no writer by name: every append of WebHDFS is another client's, and an open stream of
// a lost writer keeps its lease for as long as its connection lasts. So a file F is a row of files:
// F.N.open, which its writer appends to, and F.N.ID, which are sealed. Taking F renames what is
// open, reads all, and makes the next one; a writer looks after each append whether its file still
// has its name, and has lost it when it has not. What is short is appended as an extended attribute
// of the file, which takes milliseconds where bytes in the file take up to half a second. A writer
// whose own stream hangs, as one does that was open when the NameNode went down, seals its file and
// goes on with the next one of the row. Why that is enough is in
// docs/decisions/0006-journal-on-hdfs.md.
#pragma once

#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/model/hdfs.h"
#include "core/model/random_stream.h"
#include "wire/webhdfs/webhdfs_operations.h"

namespace tfyarn::wire {

class FencedFiles : public std::enable_shared_from_this<FencedFiles> {
 public:
  FencedFiles(boost::asio::io_context& loop, WebHdfsOperations operations)
      : loop_(loop), operations_(std::move(operations)) {}

  /// Takes the file from its writer so far, and reads it. Errors: kNotFound when no writer has
  /// taken it before; it is taken all the same.
  void Take(const std::string& path, WebHdfsAnswer<std::string> answer);
  /// At least once, see WebHdfsOperations::Append. Errors: kLeaseLost when another writer has taken
  /// it, or this process never has.
  void Append(const std::string& path, std::string bytes, WebHdfsAnswer<hdfs::Done> answer);

 private:
  class Taking;
  class Appending;
  struct Own {
    std::string path;
    std::int64_t number = 0;
    std::int64_t id = 0;
    std::size_t row = 1;  ///< Files of the row, this one included.
    int attributes = 0;   ///< So many may be there. They come before the file's own bytes:
    bool bytes = false;   ///< when it may have some, it gets no more attributes.
    std::string sealed;   ///< Its name since its stream hung; "" = it is open.
  };

  boost::asio::io_context& loop_;
  WebHdfsOperations operations_;
  std::map<std::string, Own> own_;  ///< By the file's own path.
  RandomStream random_{std::random_device{}(), "pauses"};
  bool attributes_work_ = true;  ///< Until the file system has refused one.
};

}  // namespace tfyarn::wire
