#include "fakes/server/token_office.h"

#include <chrono>
#include <utility>

#include "wire/hadoop/token_identifiers.h"

namespace tfyarn::fakes {

std::string TokenOffice::PasswordOf(std::string_view identifier) const {
  return hadoop::SignIdentifier(master_key_, identifier);
}

hadoop::HadoopToken TokenOffice::Signed(std::string identifier, const char* kind,
                                        std::string service) const {
  hadoop::HadoopToken token{
      .identifier = {}, .password = PasswordOf(identifier), .kind = kind, .service = {}};
  token.identifier = std::move(identifier);
  token.service = std::move(service);
  return token;
}

// Without a service, as a real RM issues it.
hadoop::HadoopToken TokenOffice::AmRmToken(const yarn::Token& token,
                                           const ApplicationAttemptId& attempt) const {
  return Signed(Encode(hadoop::AmRmTokenIdentifier{
                    .attempt = attempt, .key_id = static_cast<std::int32_t>(token.key_id)}),
                hadoop::kAmRmTokenKind, "");
}

void TokenOffice::IssueContainer(yarn::Container& container, const std::string& user,
                                 const TokenBook& book) {
  const auto meaning = ReadContainerToken(book, container.token, container.id, container.node);
  if (!meaning) return;
  const auto expires =
      std::chrono::duration_cast<std::chrono::milliseconds>(meaning->expires.time_since_epoch());
  hadoop::HadoopToken token =
      Signed(Encode(hadoop::ContainerTokenIdentifier{
                 .container = container.id,
                 .node = container.node,
                 .user = user,
                 .resource = meaning->terms->resource,
                 .expires_ms = expires.count(),
                 .key_id = static_cast<std::int32_t>(container.token.key_id),
                 .rm_identifier = meaning->terms->rm_identifier,
                 .priority = meaning->terms->priority}),
             hadoop::kContainerTokenKind, ToString(container.node));
  if (containers_.insert_or_assign(token.identifier, container.token).second)
    oldest_first_.push_back(token.identifier);
  if (oldest_first_.size() > most_) {
    containers_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
  container.token = store_.Keep(token);
}

void TokenOffice::IssueNm(const yarn::NmToken& token, const ApplicationAttemptId& attempt,
                          const std::string& user) {
  store_.Put(token.token, Signed(Encode(hadoop::NmTokenIdentifier{
                                     .attempt = attempt,
                                     .node = token.node,
                                     .user = user,
                                     .key_id = static_cast<std::int32_t>(token.token.key_id)}),
                                 hadoop::kNmTokenKind, ToString(token.node)));
}

void TokenOffice::Issue(yarn::RmResponse& response, const ApplicationAttemptId& attempt,
                        const std::string& user, const TokenBook& book) {
  if (auto* allocate = std::get_if<yarn::AllocateResponse>(&response)) {
    for (yarn::Container& container : allocate->allocated_containers)
      IssueContainer(container, user, book);
    for (yarn::Container& container : allocate->containers_from_previous_attempts)
      IssueContainer(container, user, book);
    for (const yarn::NmToken& token : allocate->nm_tokens) IssueNm(token, attempt, user);
    if (allocate->am_rm_token)
      store_.Put(*allocate->am_rm_token, AmRmToken(*allocate->am_rm_token, attempt));
  } else if (auto* registered = std::get_if<yarn::RegisterApplicationMasterResponse>(&response)) {
    for (yarn::Container& container : registered->containers_from_previous_attempts)
      IssueContainer(container, user, book);
    for (const yarn::NmToken& token : registered->nm_tokens_from_previous_attempts)
      IssueNm(token, attempt, user);
  }
}

std::optional<yarn::Token> TokenOffice::ContainerToken(const hadoop::HadoopToken& token) const {
  const auto found = containers_.find(token.identifier);
  if (found == containers_.end() || token.password != PasswordOf(token.identifier))
    return std::nullopt;
  return found->second;
}

}  // namespace tfyarn::fakes
