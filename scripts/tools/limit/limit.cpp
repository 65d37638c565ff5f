// The floor under the services' CPU time a request: the matrix request of ../../../contract in one
// epoll thread, without a framework. It reads HTTP/1.1, decodes, multiplies, encodes and writes, as
// a service must, and does nothing else: no strategy, no limits, no metrics, one thread.
// A request that is right under the contract gets the contract's answer, byte for byte, or 400 where
// only a service has to be ready for it (escapes in strings, numbers of more than nine digits). Of
// wrong requests it sees only those that it cannot read: it is a measure, not a service.
//
//   g++ -O3 -march=native -std=c++17 -o limit limit.cpp
//   taskset -c 0 ./limit 8190            listens on 127.0.0.1:8190, any path
#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/tcp.h>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <unordered_map>
#include <vector>

struct Refused {};

// rows x columns, row by row.
struct Matrix {
    std::vector<int32_t> values;
    int64_t rows = 0, columns = 0, largest = 0;
    bool is_there = false;
};

struct Request {
    std::string_view id;  // without quotes
    Matrix one, two;
};

// Reads a request's body once, from its beginning to its end.
class Decoder {
  public:
    explicit Decoder(std::string_view body) : at(body.data()), end(body.data() + body.size()) {}

    void request(Request& into) {
        object([&](std::string_view name) {
            if (name == "requestId") into.id = identifier();
            else if (name == "matrixOne") matrix(into.one);
            else if (name == "matrixTwo") matrix(into.two);
            else skip_value();
        });
        if (skip_space(), at != end) throw Refused();
        if (!into.one.is_there || !into.two.is_there || into.one.columns != into.two.rows) throw Refused();
    }

  private:
    const char *at, *end;

    char peek() { return at < end ? *at : throw Refused(); }
    void skip_space() { while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) ++at; }
    bool take(char wanted) { skip_space(); return at < end && *at == wanted ? (++at, true) : false; }
    void require(char wanted) { if (!take(wanted)) throw Refused(); }

    std::string_view string() {
        require('"');
        auto quote = static_cast<const char*>(memchr(at, '"', end - at));
        if (!quote || memchr(at, '\\', quote - at)) throw Refused();
        std::string_view found(at, quote - at);
        at = quote + 1;
        return found;
    }

    template <typename Member> void object(Member member) {
        require('{');
        if (take('}')) return;
        do {
            auto name = string();
            require(':');
            member(name);
        } while (take(','));
        require('}');
    }

    std::string_view identifier() {
        if (skip_space(), peek() == '"') return string();
        auto start = at;
        if (integer() == 0 && *start == '-') throw Refused();  // the contract's answer has 0
        return {start, static_cast<size_t>(at - start)};
    }

    void skip_value() {
        if (skip_space(), peek() == '{') return object([&](std::string_view) { skip_value(); });
        if (peek() == '"') return void(string());
        if (take('[')) {
            if (take(']')) return;
            do skip_value(); while (take(','));
            return require(']');
        }
        auto start = at;
        while (at < end && (isalnum(*at) || strchr("+-.", *at))) ++at;
        if (at == start) throw Refused();
    }

    int32_t integer() {
        bool negative = peek() == '-';
        at += negative;
        auto start = at;
        int32_t value = 0;
        for (; at < end && static_cast<unsigned>(*at - '0') < 10; ++at) value = value * 10 + (*at - '0');
        if (at == start || at - start > 9) throw Refused();
        return negative ? -value : value;
    }

    // "value": "1,2,3" or [1,2,3]
    int64_t row(Matrix& into) {
        char last = take('"') ? '"' : (require('['), ']');
        int64_t columns = 0;
        do {
            skip_space();
            int32_t value = integer();
            into.largest = std::max<int64_t>(into.largest, std::abs(value));
            into.values.push_back(value);
            ++columns;
        } while (take(','));
        require(last);
        return columns;
    }

    void matrix(Matrix& into) {
        int64_t announced = -1;
        into.is_there = true;
        object([&](std::string_view name) {
            if (name == "columnCount") return skip_space(), void(announced = integer());
            if (name != "rows") return skip_value();
            require('[');
            do {
                int64_t columns = -1;
                object([&](std::string_view member) {
                    if (member == "value") columns = row(into); else skip_value();
                });
                if (into.rows++ && columns != into.columns) throw Refused();
                into.columns = columns;
            } while (take(','));
            require(']');
        });
        if (into.columns < 1 || announced != into.columns) throw Refused();
    }
};

// Row by row, the second matrix in order of memory: the compiler makes vectors of it.
template <typename Number> void multiply(const Matrix& one, const Matrix& two, std::vector<Number>& product) {
    product.assign(one.rows * two.columns, 0);
    for (int64_t row = 0; row < one.rows; ++row) {
        Number* sums = &product[row * two.columns];
        for (int64_t inner = 0; inner < one.columns; ++inner) {
            const Number factor = one.values[row * one.columns + inner];
            const int32_t* values = &two.values[inner * two.columns];
            for (int64_t column = 0; column < two.columns; ++column) sums[column] += factor * values[column];
        }
    }
}

template <typename Number>
size_t encode(const Request& request, const std::vector<Number>& product, std::string& body) {
    body.resize(64 + request.id.size() + product.size() * 21 + request.one.rows * 4);
    char* out = body.data();
    auto put = [&](std::string_view text) { memcpy(out, text.data(), text.size()), out += text.size(); };
    put("{\"requestId\":\""), put(request.id), put("\",\"rows\":[");
    const Number* value = product.data();
    for (int64_t row = 0; row < request.one.rows; ++row) {
        put(row ? ",[" : "[");
        for (int64_t column = 0; column < request.two.columns; ++column) {
            if (column) *out++ = ',';
            out = std::to_chars(out, out + 21, *value++).ptr;
        }
        *out++ = ']';
    }
    put("]}");
    return out - body.data();
}

double now_ms() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

// The answer with all headers that a service's has, but for Date.
void answer(std::string_view body, std::string& out) try {
    static Request request;  // kept, as the others are, so that they need no new memory
    static std::vector<int32_t> narrow;
    static std::vector<int64_t> wide;
    static std::string product;
    const double start_ms = now_ms();
    for (Matrix* each : {&request.one, &request.two}) {
        each->values.clear();
        each->rows = each->columns = each->largest = 0;
        each->is_there = false;
    }
    request.id = {};
    Decoder(body).request(request);
    if (request.id.empty()) throw Refused();
    int64_t bound = request.one.largest * request.two.largest;  // below 10^18
    if (__builtin_mul_overflow(bound, request.one.columns, &bound)) throw Refused();
    const bool is_narrow = bound <= INT32_MAX;
    const double parsed_ms = now_ms();
    if (is_narrow) multiply(request.one, request.two, narrow); else multiply(request.one, request.two, wide);
    const double computed_ms = now_ms();
    const size_t length = is_narrow ? encode(request, narrow, product) : encode(request, wide, product);
    char head[512];
    const int head_length = snprintf(head, sizeof head,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n"
        "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
        "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
        "Server-Timing: queue;dur=0.000, parse;dur=%.3f, compute;dur=%.3f, serialize;dur=%.3f\r\n"
        "Content-Length: %zu\r\n\r\n",
        parsed_ms - start_ms, computed_ms - parsed_ms, now_ms() - computed_ms, length);
    out.append(head, head_length).append(product, 0, length);
} catch (const Refused&) {
    out += "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
}

struct Connection {
    std::string in, out;  // received and not yet answered; answered and not yet sent

    // False when the client is gone.
    bool receive(int socket) {
        static std::vector<char> buffer(1 << 20);
        for (;;) {
            ssize_t count = read(socket, buffer.data(), buffer.size());
            if (count <= 0) return count < 0 && errno == EAGAIN;
            in.append(buffer.data(), count);
        }
    }

    void answer_whole_requests() {
        for (size_t head; (head = in.find("\r\n\r\n")) != std::string::npos;) {
            const char* field = strcasestr(in.c_str(), "\r\ncontent-length:");
            size_t length = field && field < in.data() + head ? strtoul(field + 17, nullptr, 10) : 0;
            if (in.size() < head + 4 + length) return;
            answer({in.data() + head + 4, length}, out);
            in.erase(0, head + 4 + length);
        }
    }

    bool send(int socket) {
        size_t sent = 0;
        ssize_t count = 0;
        while (sent < out.size() && (count = ::send(socket, out.data() + sent, out.size() - sent, MSG_NOSIGNAL)) > 0)
            sent += count;
        out.erase(0, sent);
        return count >= 0 || errno == EAGAIN;
    }
};

int listen_on(int port) {
    int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) || listen(listener, 512)) {
        perror("limit");
        exit(1);
    }
    return listener;
}

int main(int count, char** arguments) {
    if (count != 2) return fprintf(stderr, "usage: limit PORT\n"), 2;
    const int listener = listen_on(atoi(arguments[1])), poll = epoll_create1(0);
    auto watch = [&](int action, int socket, uint32_t events) {
        epoll_event event{};
        event.events = events;
        event.data.fd = socket;
        epoll_ctl(poll, action, socket, &event);
    };
    watch(EPOLL_CTL_ADD, listener, EPOLLIN);
    std::unordered_map<int, Connection> connections;
    for (epoll_event events[128];;) {
        const int ready = epoll_wait(poll, events, 128, -1);
        for (int i = 0; i < ready; ++i) {
            int one = 1, socket = events[i].data.fd;
            if (socket == listener) {
                while ((socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) >= 0) {
                    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    watch(EPOLL_CTL_ADD, socket, EPOLLIN);
                }
                continue;
            }
            Connection& client = connections[socket];
            const bool waited = !client.out.empty();
            bool lives = !(events[i].events & ~EPOLLOUT) || client.receive(socket);
            if (lives) client.answer_whole_requests(), lives = client.send(socket);
            if (!lives) close(socket), connections.erase(socket);
            else if (waited == client.out.empty()) watch(EPOLL_CTL_MOD, socket, client.out.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
        }
    }
}
