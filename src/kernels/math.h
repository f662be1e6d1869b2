#pragma once

// exp, log, sin and cos that give the same bits on every machine: polynomials over correctly
// rounded operations (add, multiply, divide, std::fma) only. The C library's differ between
// versions. docs/NUMERICS.md says where they must be used.

namespace rapt::math {

// e^x; 0 below -104, +inf above 88.73; relative error below 2^-23. NaN gives NaN.
float exp(float x);
// Natural logarithm; log(0) is -inf, of a negative NaN; error below 2 units in the last place.
float log(float x);

// The same in double, for tables: relative error below 1e-15.
double exp(double x);
double log(double x);  // x > 0 and normal

struct SinCos {
  double sin;
  double cos;
};

// |x| <= 1e6; absolute error below 1e-15.
SinCos sincos(double x);

}  // namespace rapt::math
