#include "apps/yarn/away_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "core/model/visit.h"
#include "hosts/runtime/staging.h"

namespace tfyarn::apps {
namespace {

using Part = AwayWatch::Part;

constexpr std::array<const char*, 2> kNames{"the ResourceManager", "HDFS"};

std::string WhatOf(const yarn::RmRequest& request) {
  return std::visit(
      Overloaded{
          [](const yarn::GetNewApplicationRequest&) { return "the request for an application"; },
          [](const yarn::GetClusterNodesRequest&) { return "the question about its nodes"; },
          [](const yarn::GetQueueInfoRequest&) { return "the question about the queue"; },
          [](const yarn::SubmitApplicationRequest&) { return "the submission"; },
          [](const yarn::GetApplicationReportRequest&) { return "the question about the job"; },
          [](const yarn::KillApplicationRequest&) { return "the order to kill the job"; },
          [](const auto&) { return "a call"; }},
      request);
}

std::int64_t Seconds(AwayWatch::Clock::duration span) {
  return std::chrono::duration_cast<std::chrono::seconds>(span).count();
}

}  // namespace

void AwayWatch::Asked(Part part, std::string what, Clock::time_point now) {
  Silence& silence = Of(part);
  ++silence.under_way;
  silence.what = std::move(what);
  if (!silence.since) silence.since = now;
}

void AwayWatch::Answered(Part part, const std::string& failure, Clock::time_point now) {
  Silence& silence = Of(part);
  --silence.under_way;
  silence.failure = failure;
  if (!failure.empty()) return;
  silence.since = silence.under_way > 0 ? std::optional(now) : std::nullopt;
  silence.told.reset();
}

std::optional<std::string> AwayWatch::Next(Clock::time_point now) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Silence& silence = parts_[i];
    if (!silence.since || now - *silence.since < kTellAfter) continue;
    if (silence.told && now - *silence.told < kTellAgain) continue;
    silence.told = now;
    return fmt::format("{} has not answered {} for {} s{}{}", kNames[i], silence.what,
                       Seconds(now - *silence.since), silence.failure.empty() ? "" : ": ",
                       silence.failure);
  }
  return std::nullopt;
}

Duration AwayWatch::Longest(Clock::time_point now) const {
  Duration longest{};
  for (const Silence& silence : parts_) {
    if (silence.since)
      longest = std::max(longest, std::chrono::duration_cast<Duration>(now - *silence.since));
  }
  return longest;
}

void WatchedCluster::CallRm(yarn::RmRequest request, RmAnswer answer) {
  watch_.Asked(Part::kResourceManager, WhatOf(request), AwayWatch::Clock::now());
  cluster_.CallRm(std::move(request), [this,
                                       answer = std::move(answer)](yarn::RmResponse response) {
    const auto* error = std::get_if<yarn::RpcError>(&response);
    const bool away = error != nullptr && error->code == yarn::RpcErrorCode::kUnavailable;
    watch_.Answered(Part::kResourceManager, away ? error->message : "", AwayWatch::Clock::now());
    answer(std::move(response));
  });
}

void WatchedStorage::Call(hdfs::HdfsRequest request, Answer answer) {
  watch_.Asked(Part::kHdfs, std::visit([](const auto& each) { return each.path; }, request),
               AwayWatch::Clock::now());
  storage_.Call(std::move(request),
                [this, answer = std::move(answer)](hdfs::HdfsResponse response) {
                  const auto* error = std::get_if<hdfs::HdfsError>(&response);
                  const bool away = error != nullptr && hosts::MayPass(error->code);
                  watch_.Answered(Part::kHdfs, away ? error->message : "", AwayWatch::Clock::now());
                  answer(std::move(response));
                });
}

}  // namespace tfyarn::apps
