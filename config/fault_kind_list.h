// The parts of the table of fault kinds, and what their entries share.
#pragma once

#include <string>
#include <vector>

#include "config/fault_kinds.h"

namespace tfyarn::config {

void AddNodeKinds(std::vector<FaultKind>& kinds);
void AddLaunchKinds(std::vector<FaultKind>& kinds);
void AddContainerKinds(std::vector<FaultKind>& kinds);
void AddGpuKinds(std::vector<FaultKind>& kinds);
void AddRmKinds(std::vector<FaultKind>& kinds);
void AddAmKinds(std::vector<FaultKind>& kinds);
void AddClientKinds(std::vector<FaultKind>& kinds);
void AddNetworkKinds(std::vector<FaultKind>& kinds);
void AddHdfsKinds(std::vector<FaultKind>& kinds);

/// The parameter `count`: how many times.
[[nodiscard]] FaultParam Times(std::string doc);
/// The parameter `factor`, from 1.
[[nodiscard]] FaultParam Factor(std::string text, std::string doc);

}  // namespace tfyarn::config
