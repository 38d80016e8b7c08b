#include "hosts/yarn/am_face.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "core/model/host_port.h"
#include "hosts/runtime/clock.h"
#include "hosts/runtime/staging.h"
#include "hosts/yarn/history_paths.h"
#include "wire/http/http_url.h"

namespace tfyarn::hosts {
namespace {

/// A report is shown for so long, and for so many times as long as it took to make.
constexpr Duration kReportLives = 1s;
constexpr int kReportShare = 10;

/// By then the machine has begun.
constexpr Duration kFirstDocuments = 3s;
constexpr Duration kHour = 1h;

/// HDFS that is away is not waited for here, but by those who ask again.
wire::WebHdfsOptions StorageOptions(const YarnAddresses& addresses) {
  wire::WebHdfsOptions options = HdfsOptionsFor(addresses);
  options.quick_files = false;  // A history is read by others too.
  options.longest = AmFace::kLongestEnd;
  options.http = {.connect = AmFace::kLongestEnd, .silence = AmFace::kLongestEnd};
  options.most_read = 3 * Chronicle::kMostBytes;
  return options;
}

/// When the application was submitted, on this process's own clock. Clocks of two machines differ:
/// what lies in the future is now.
Instant BeganOf(const YarnContainer& container) {
  const Duration ago = container.submitted ? Duration(WallNow() - *container.submitted) : 0s;
  return Now() - std::max<Duration>(ago, 0s);
}

/// All NodeManagers of a cluster have their web server at the same port.
LiveState::LogAddress LogsBy(const YarnEnvironment& environment) {
  return [port = environment.container.web_port,
          user = environment.addresses.user](const LiveTask& task) -> std::string {
    if (task.node.empty() || task.container.empty() || port == 0) return "";
    return fmt::format("http://{}/node/containerlogs/{}/{}",
                       ToString(HostPort{.host = task.node, .port = port}), task.container, user);
  };
}

}  // namespace

AmFace::AmFace(boost::asio::io_context& loop, std::shared_ptr<const JobSpec> job,
               const YarnEnvironment& environment, AmFaceOptions options)
    : environment_(environment),
      options_(std::move(options)),
      keep_(job->history_keep),
      applications_(HistoryDirectory(job->history_directory, environment.addresses.user)),
      history_(
          AttemptDirectory(applications_, environment.container.container.application_attempt)),
      chronicle_(std::move(job), {.version = options_.version,
                                  .job_file = options_.job_file,
                                  .began = BeganOf(environment.container),
                                  .directory = options_.directory,
                                  .logs = LogsBy(environment)}),
      page_(loop, {.state = [this] { return chronicle_.State(); },
                   .report = [this] { return Report(); },
                   .log = [](const LogRequest&) { return std::nullopt; }}),
      storage_(loop, StorageOptions(environment.addresses)),
      writer_({.loop = loop, .storage = storage_, .directory = history_, .note = options_.note}),
      sweep_(storage_.client(), applications_),
      documents_(loop),
      last_(loop) {
  writer_.Put(kEffectiveJobFile, options_.job_file);
  writer_.Follow(kEventsFile, chronicle_.events());
  writer_.Follow(std::string(kJournalFile), chronicle_.journal());
  ReadEarlier(1);
}

std::string AmFace::OpenPage() {
  const auto address = page_.Listen("0.0.0.0", environment_.container.host);
  if (address) return *address;
  options_.note(address.error().message);
  return "";
}

std::string AmFace::ReportAddress() const {
  return fmt::format("http://{}/webhdfs/v1{}?op=OPEN&user.name={}",
                     ToString(storage_.client().name_node()),
                     wire::EncodePath(history_ + "/" + kReportFile),
                     wire::EncodeQueryValue(environment_.addresses.user));
}

std::string AmFace::Report() {
  const Instant begin = Now();
  if (begin < report_until_) return report_;
  auto made = chronicle_.Documents(false).html;
  report_ = made ? std::move(*made) : made.error().message;
  const Instant end = Now();
  report_until_ = end + std::max<Duration>(kReportLives, kReportShare * (end - begin));
  return report_;
}

// ---------------------------------------------------------------- the history

/// What earlier attempts wrote comes first in all that is shown; what they did not get to HDFS, and
/// what cannot be read now, is missing.
void AmFace::ReadEarlier(std::int32_t attempt) {
  const ApplicationAttemptId& own = environment_.container.container.application_attempt;
  if (attempt >= own.attempt) {
    if (!earlier_.empty()) chronicle_.Precede(earlier_);
    return WriteAgainAfter(kFirstDocuments);
  }
  const std::string path = fmt::format(
      "{}/{}",
      AttemptDirectory(applications_, {.application = own.application, .attempt = attempt}),
      kEventsFile);
  storage_.Call(
      hdfs::ReadRequest{.path = path, .writer = {}},
      lifetime_.Guard([this, attempt](const hdfs::HdfsResponse& response) {
        if (const auto* error = std::get_if<hdfs::HdfsError>(&response)) {
          options_.note("the report goes without AM attempt " + std::to_string(attempt) + ": " +
                        error->message);
        } else {
          earlier_.push_back(fmt::format("{}/events-{}.jsonl", options_.directory, attempt));
          std::ofstream(earlier_.back(), std::ios::binary)
              << std::get<hdfs::ReadResponse>(response).bytes;
        }
        ReadEarlier(attempt + 1);
      }));
}

void AmFace::WriteDocuments(bool over) {
  auto made = chronicle_.Documents(over);
  writer_.Put(kResultFile, std::move(made.json));
  if (made.html) writer_.Put(kReportFile, std::move(*made.html));
}

/// Also a sign that the application lives, for those who remove what is old.
void AmFace::WriteAgainAfter(Duration pause) {
  documents_.expires_after(pause);
  documents_.async_wait(lifetime_.Guard([this](const boost::system::error_code& cancelled) {
    if (cancelled || done_) return;
    WriteDocuments(false);
    WriteAgainAfter(kHour);
  }));
}

// ---------------------------------------------------------------- the end

void AmFace::Finish(std::int32_t code, std::function<void()> done) {
  if (done_) return;
  done_ = std::move(done);
  WriteDocuments(code == 0);
  under_way_ = 1;
  // Another attempt may need what is there.
  if (code == 0) {
    under_way_ = 3;
    Clean();
    Sweep();
  }
  writer_.Finish(kLongestEnd, [this] { Done(); });
  last_.expires_after(2 * kLongestEnd);
  last_.async_wait(lifetime_.Guard([this](const boost::system::error_code& cancelled) {
    if (cancelled || under_way_ == 0) return;
    under_way_ = 0;
    done_();
  }));
}

void AmFace::Clean() {
  storage_.Call(hdfs::DeleteRequest{.path = options_.staging_directory, .recursive = true},
                lifetime_.Guard([this](const hdfs::HdfsResponse& response) {
                  if (const auto* error = std::get_if<hdfs::HdfsError>(&response))
                    options_.note("the staging directory stays: " + error->message);
                  Done();
                }));
}

void AmFace::Sweep() {
  sweep_.Run(WallNow(), keep_, [this] { Done(); });
}

void AmFace::Done() {
  if (under_way_ > 0 && --under_way_ == 0) done_();
}

}  // namespace tfyarn::hosts
