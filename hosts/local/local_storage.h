// HDFS on one machine: the product's few file operations on a directory.
//
// Paths are HDFS paths ("/a/b") below `root`. What is written is there for every process of this
// machine at once; it is not forced to the disk, as a machine that fails takes the whole run with
// it. A file that a writer has taken (ReadRequest::writer) refuses the appends of earlier writers:
// a lock beside the file makes check and append one step.
#pragma once

#include <boost/asio/io_context.hpp>
#include <string>

#include "hosts/runtime/cluster.h"

namespace tfyarn::hosts {

class LocalStorage : public Storage {
 public:
  /// `root` is made when it is missing, for the owner only. `keep`: where deleted directories are
  /// moved to instead; "" = they are deleted.
  LocalStorage(boost::asio::io_context& loop, std::string root, std::string keep);

  void Call(hdfs::HdfsRequest request, Answer answer) override;
  /// The same at once.
  [[nodiscard]] hdfs::HdfsResponse Carry(const hdfs::HdfsRequest& request) const;
  /// Where the file is on this machine.
  [[nodiscard]] std::string Locate(const std::string& path) const { return root_ + path; }

 private:
  [[nodiscard]] hdfs::HdfsResponse Do(const hdfs::CreateRequest& request) const;
  [[nodiscard]] hdfs::HdfsResponse Do(const hdfs::AppendRequest& request) const;
  [[nodiscard]] hdfs::HdfsResponse Do(const hdfs::ReadRequest& request) const;
  [[nodiscard]] hdfs::HdfsResponse Do(const hdfs::GetFileStatusRequest& request) const;
  [[nodiscard]] hdfs::HdfsResponse Do(const hdfs::MkdirsRequest& request) const;
  [[nodiscard]] hdfs::HdfsResponse Do(const hdfs::DeleteRequest& request) const;

  boost::asio::io_context& loop_;
  std::string root_;
  std::string keep_;
};

}  // namespace tfyarn::hosts
