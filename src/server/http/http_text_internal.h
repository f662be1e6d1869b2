#pragma once

#include <string>
#include <string_view>

namespace rapt {

// "req_" and 24 random hexadecimal digits.
std::string make_request_id();

// The client's id when it is one to be echoed (1 to 128 visible ASCII characters), else a new one.
std::string accept_request_id(std::string_view from_client);

// `num_digits` random hexadecimal digits.
std::string random_hex(int num_digits);

// Now, as the Date header wants it.
std::string http_date();

// Adds `data` (not empty) as one chunk of a chunked body.
void append_chunk(std::string& out, std::string_view data);

}  // namespace rapt
