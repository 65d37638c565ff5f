// Student's t and Welch's ratio on the log scale, the same as `experiment.statistics` has; a test holds the two together.
const LANCZOS = [676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];

function logGamma(x) {
  const sum = LANCZOS.reduce((total, each, n) => total + each / (x + n), 0.99999999999980993);
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

// The regularised incomplete beta function, by its continued fraction (Lentz).
function incompleteBeta(x, a, b) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  let [c, d] = [1, 1 / (1 - ((a + b) * x) / (a + 1))];
  let result = d;
  for (let m = 1; m < 500; m++) {
    for (const numerator of [(m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)), (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))]) {
      d = 1 / (1 + numerator * d);
      c = 1 + numerator / c;
      result *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-15) break;
  }
  return front * result;
}

// The probability that t exceeds a value.
function tTail(t, freedom) {
  const both = incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
  return t >= 0 ? both / 2 : 1 - both / 2;
}

// The value that t exceeds with probability (1 - confidence) / 2.
function tQuantile(confidence, freedom) {
  let [low, high] = [0, 1];
  const tail = (1 - confidence) / 2;
  while (tTail(high, freedom) > tail) high *= 2;
  for (let n = 0; n < 100; n++) {
    const middle = (low + high) / 2;
    if (tTail(middle, freedom) > tail) low = middle; else high = middle;
  }
  return (low + high) / 2;
}

const mean = (values) => values.reduce((sum, each) => sum + each, 0) / values.length;

// The ratio first/second of two lists of at least two values above 0.
function welchRatio(first, second) {
  const parts = [first, second].map((values) => {
    const middle = mean(values);
    const variance = values.reduce((sum, each) => sum + (each - middle) ** 2, 0) / (values.length - 1);
    return { mean: middle, count: values.length, part: variance / (values.length * middle ** 2) };
  });
  const total = parts[0].part + parts[1].part;
  const estimate = parts[0].mean / parts[1].mean;
  if (total === 0) return { estimate, low: estimate, high: estimate, freedom: Infinity, error: 0 };
  const freedom = total ** 2 / parts.reduce((sum, { part, count }) => sum + part ** 2 / (count - 1), 0);
  const error = Math.sqrt(total);
  const factor = Math.exp(tQuantile(0.95, freedom) * error);
  return { estimate, low: estimate / factor, high: estimate * factor, freedom, error };
}

// The p value of "the true ratio is at most `limit`".
function pAbove(ratio, limit) {
  const distance = Math.log(ratio.estimate / limit);
  if (ratio.error === 0) return distance > 0 ? 0 : 1;
  return tTail(distance / ratio.error, ratio.freedom);
}

// For each p value the level that it must not exceed, so that all together hold 5 % (Holm 1979).
function holmLevels(pValues, level) {
  const levels = pValues.map(() => level);
  let [divisor, failed] = [pValues.length, false];
  for (const n of pValues.map((_, each) => each).sort((a, b) => pValues[a] - pValues[b])) {
    levels[n] = level / divisor;
    failed ||= pValues[n] > levels[n];
    if (!failed) divisor -= 1;
  }
  return levels;
}
