// Text that a test makes, against a file in tests/golden/. TFYARN_REWRITE=1 writes the file again.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tfyarn {

/// `name`: its path in tests/golden/, under TFYARN_SOURCE_DIR, which ctest sets.
inline void ExpectGolden(const std::string& name, const std::string& text) {
  const char* root = std::getenv("TFYARN_SOURCE_DIR");
  ASSERT_NE(root, nullptr) << "run by ctest, or set TFYARN_SOURCE_DIR";
  const std::filesystem::path path = std::filesystem::path(root) / "tests/golden" / name;
  if (std::getenv("TFYARN_REWRITE") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.is_open()) << path << " is missing: run with TFYARN_REWRITE=1";
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(golden.str(), text) << "in " << path << "; TFYARN_REWRITE=1 writes it anew";
}

}  // namespace tfyarn
