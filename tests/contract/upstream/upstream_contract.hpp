// What every UpstreamLink to a server must do, as tests. An adapter's own test file gives a way to make one,
// and what its server sends for the same answer, as in contract/store/store_contract.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing_streams.hpp"
#include "plimsoll/upstream.hpp"

namespace plimsoll {

struct UpstreamMaker {
  std::string name;
  std::function<std::unique_ptr<UpstreamLink>(HttpStreams& streams)> link;
  // "Ten feet.", with 21 tokens read and 3 written, ended by the model: at once, and as a stream. Each piece
  // of the stream is one event; the last one marks its end.
  std::string whole;
  std::string stream_type;
  std::vector<std::string> stream;
  std::string error;  // whose message is "the prompt is too long"
};

class UpstreamContract : public testing::TestWithParam<UpstreamMaker> {
 protected:
  // Sends a chat to a server that replies with these bytes, in pieces.
  Result<std::unique_ptr<UpstreamReply>> ask(ReplyHead head, std::deque<std::string> pieces, bool stream,
                                             std::size_t longest = 1'000'000);
  ReplyHead stream_head() const;

  std::unique_ptr<base::FakeStreams> streams_;
  std::unique_ptr<UpstreamLink> link_;
};

}  // namespace plimsoll
