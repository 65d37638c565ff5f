// The floor under the Java service's NAS kernel MG: the same algorithm in plain C++, one thread, no
// intrinsics. V-cycles on a periodic Poisson problem in three dimensions, by the specification of
// NPB 3.4, for the classes that share a smoother and a number of cycles.
//
//   g++ -O3 -march=native -std=c++17 -o mg mg.cpp
//   ./mg A 3        prints the seconds of NPB's timed section, a line a run; ends with 1 where a
//                   run's norm is not NPB's
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

struct Class {
    std::string name;
    int levels;  // log2 of the points on an axis
    double norm;  // of the residual after the last cycle
};
const Class CLASSES[] = {
    {"S", 5, 0.5307707005734e-04}, {"W", 7, 0.6467329375339e-05}, {"A", 8, 0.2433365309069e-05}};
const int CYCLES = 4;
const double EPSILON = 1e-8;

// A periodic cube of points with a layer of ghosts around it: axis 1 fastest, interior 1 to n on
// each axis. Ghosts repeat the interior of the opposite face.
struct Grid {
    int n, side;
    std::vector<double> points;

    explicit Grid(int interior) : n(interior), side(n + 2), points(size_t(side) * side * side) {}

    double* line(int i3, int i2) { return points.data() + (size_t(i3) * side + i2) * side; }
    const double* line(int i3, int i2) const { return points.data() + (size_t(i3) * side + i2) * side; }

    // Calls body(i3, i2) for each interior line, and fills the ghosts: of a plane, axis 1 and then
    // axis 2 with the corners, while it is in the cache.
    template <class Body> void write(Body body) {
        for (int i3 = 1; i3 <= n; i3++) {
            for (int i2 = 1; i2 <= n; i2++) {
                body(i3, i2);
                double* at = line(i3, i2);
                at[0] = at[n];
                at[n + 1] = at[1];
            }
            std::copy_n(line(i3, n), side, line(i3, 0));
            std::copy_n(line(i3, 1), side, line(i3, n + 1));
        }
        std::copy_n(line(n, 0), side * side, line(0, 0));
        std::copy_n(line(1, 0), side * side, line(n + 1, 0));
    }

    void clear() { std::fill(points.begin(), points.end(), 0); }
};

// At each point of a line, the sums that neighbours on the line share: of the four nearest points
// in the lines around it, and of the four in the lines diagonal to it. Lines of a plane are taken in
// order: the sums of the planes below and above are kept for the next lines.
struct Sums {
    std::vector<double> straight, diagonal;
    std::vector<double> layers[3];
    int plane = 0, next = 0;  // of the layer that comes next; no interior plane is 0

    explicit Sums(const Grid& grid) : straight(grid.side), diagonal(grid.side) {
        for (auto& e : layers) e.resize(grid.side);
    }

    void take(const Grid& grid, int i3, int i2) {
        const int side = grid.side;
        if (i3 != plane) plane = i3, next = 0;
        for (; next <= i2 + 1; next++) {
            const double *below = grid.line(i3 - 1, next), *above = grid.line(i3 + 1, next);
            double* __restrict to = layers[next % 3].data();
            for (int i = 0; i < side; i++) to[i] = below[i] + above[i];
        }
        const double *south = grid.line(i3, i2 - 1), *north = grid.line(i3, i2 + 1);
        const double *before = layers[(i2 - 1) % 3].data(), *here = layers[i2 % 3].data(),
                     *after = layers[(i2 + 1) % 3].data();
        double *__restrict to_straight = straight.data(), *__restrict to_diagonal = diagonal.data();
        for (int i = 0; i < side; i++) {
            to_straight[i] = south[i] + north[i] + here[i];
            to_diagonal[i] = before[i] + after[i];
        }
    }
};

// r = v - A u, A the Laplacian on 27 points. r may be v itself.
void residual(const Grid& u, const Grid& v, Grid& r) {
    Sums sums(u);
    r.write([&](int i3, int i2) {
        sums.take(u, i3, i2);
        const double *straight = sums.straight.data(), *diagonal = sums.diagonal.data();
        const double *at = u.line(i3, i2), *right = v.line(i3, i2);
        double* to = r.line(i3, i2);
        for (int i = 1, n = u.n; i <= n; i++)
            to[i] = right[i] + 8.0 / 3 * at[i] - 1.0 / 6 * (diagonal[i] + straight[i - 1] + straight[i + 1])
                    - 1.0 / 12 * (diagonal[i - 1] + diagonal[i + 1]);
    });
}

// u += S r, S an approximate inverse of A.
void smooth(const Grid& r, Grid& u) {
    Sums sums(r);
    u.write([&](int i3, int i2) {
        sums.take(r, i3, i2);
        const double *straight = sums.straight.data(), *diagonal = sums.diagonal.data();
        const double* at = r.line(i3, i2);
        double* to = u.line(i3, i2);
        for (int i = 1, n = u.n; i <= n; i++)
            to[i] += -3.0 / 8 * at[i] + 1.0 / 32 * (at[i - 1] + at[i + 1] + straight[i])
                     - 1.0 / 64 * (diagonal[i] + straight[i - 1] + straight[i + 1]);
    });
}

// Coarse point j becomes the weighted mean of 27 fine points around 2j.
void restriction(const Grid& fine, Grid& coarse) {
    Sums sums(fine);
    coarse.write([&](int j3, int j2) {
        sums.take(fine, 2 * j3, 2 * j2);
        const double *straight = sums.straight.data(), *diagonal = sums.diagonal.data();
        const double* at = fine.line(2 * j3, 2 * j2);
        double* to = coarse.line(j3, j2);
        for (int i = 2, n = fine.n; i <= n; i += 2)
            to[i / 2] = 1.0 / 2 * at[i] + 1.0 / 4 * (at[i - 1] + at[i + 1] + straight[i])
                        + 1.0 / 8 * (diagonal[i] + straight[i - 1] + straight[i + 1])
                        + 1.0 / 16 * (diagonal[i - 1] + diagonal[i + 1]);
    });
}

// Adds to each fine point the mean of the 1, 2, 4 or 8 coarse points around it, ghosts included.
void prolongation(const Grid& coarse, Grid& fine) {
    std::vector<double> kept(coarse.side);
    double* means = kept.data();
    for (int i3 = 0; i3 < fine.side; i3++)
        for (int i2 = 0; i2 < fine.side; i2++) {
            // on a coarse plane or line, two of these are the same
            const double *a = coarse.line(i3 / 2, i2 / 2), *b = coarse.line(i3 / 2, (i2 + 1) / 2);
            const double *c = coarse.line((i3 + 1) / 2, i2 / 2), *d = coarse.line((i3 + 1) / 2, (i2 + 1) / 2);
            for (int j = 0; j < coarse.side; j++) means[j] = 0.25 * (a[j] + b[j] + c[j] + d[j]);
            double* to = fine.line(i3, i2);
            for (int j = 0; j <= coarse.n; j++) {
                to[2 * j] += means[j];
                to[2 * j + 1] += 0.5 * (means[j] + means[j + 1]);
            }
        }
}

double norm(const Grid& r) {
    double square = 0;
    for (int i3 = 1; i3 <= r.n; i3++)
        for (int i2 = 1; i2 <= r.n; i2++) {
            const double* at = r.line(i3, i2);
            for (int i = 1; i <= r.n; i++) square += at[i] * at[i];
        }
    return std::sqrt(square / (double(r.n) * r.n * r.n));
}

// +1 where the ten largest of a grid's random numbers stand, -1 where the ten smallest do.
Grid charges(int n) {
    std::vector<std::pair<uint64_t, int>> numbers(size_t(n) * n * n);
    uint64_t state = 314159265;
    for (size_t at = 0; at < numbers.size(); at++)
        numbers[at] = {state = state * 1220703125 & ((uint64_t(1) << 46) - 1), int(at)};
    Grid v(n);
    const auto put = [&](auto from, auto to, double charge) {
        for (; from != to; ++from) {
            const int at = from->second;
            v.line(at / (n * n) + 1, at / n % n + 1)[at % n + 1] = charge;
        }
    };
    const auto begin = numbers.begin(), end = numbers.end();
    std::nth_element(begin, begin + 10, end);
    put(begin, begin + 10, -1);
    std::nth_element(begin, end - 10, end);
    put(end - 10, end, 1);
    v.write([](int, int) {});
    return v;
}

// One V-cycle over grids from 2 points an axis to the finest, whose residual it needs.
void cycle(std::vector<Grid>& u, const Grid& v, std::vector<Grid>& r) {
    const size_t finest = u.size() - 1;
    for (size_t k = finest; k > 0; k--) restriction(r[k], r[k - 1]);
    u[0].clear();
    smooth(r[0], u[0]);
    for (size_t k = 1; k < finest; k++) {
        u[k].clear();
        prolongation(u[k - 1], u[k]);
        residual(u[k], r[k], r[k]);
        smooth(r[k], u[k]);
    }
    prolongation(u[finest - 1], u[finest]);
    residual(u[finest], v, r[finest]);
    smooth(r[finest], u[finest]);
}

struct Run {
    double first_norm, last_norm, seconds;
};

// The residual's norms before the first cycle and after the last, and the time of what NPB times.
Run run(int levels, const Grid& v) {
    std::vector<Grid> u, r;
    for (int k = 1; k <= levels; k++) u.emplace_back(1 << k), r.emplace_back(1 << k);
    residual(u.back(), v, r.back());
    cycle(u, v, r);
    residual(u.back(), v, r.back());
    u.back().clear();
    const auto start = std::chrono::steady_clock::now();
    residual(u.back(), v, r.back());
    const double first_norm = norm(r.back());
    for (int i = 0; i < CYCLES; i++) {
        cycle(u, v, r);
        residual(u.back(), v, r.back());
    }
    const double last_norm = norm(r.back());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return {first_norm, last_norm, took.count()};
}

bool is_near(double found, double expected) { return std::abs(found - expected) <= EPSILON * expected; }

int main(int count, char** arguments) {
    for (const Class& each : CLASSES) {
        if (count != 3 || arguments[1] != each.name) continue;
        const Grid v = charges(1 << each.levels);
        for (int left = std::atoi(arguments[2]); left > 0; left--) {
            const Run found = run(each.levels, v);
            // of a solution of 0 the residual is the right-hand side, 20 charges
            const bool began_right = is_near(found.first_norm, std::sqrt(20 / std::pow(v.n, 3)));
            if (!began_right || !is_near(found.last_norm, each.norm))
                return std::printf("a wrong answer: norm %.13e, not %.13e\n", found.last_norm, each.norm), 1;
            std::printf("%.6f\n", found.seconds);
        }
        return 0;
    }
    return std::fprintf(stderr, "usage: mg S|W|A RUNS\n"), 2;
}
