/**
 * Whether JavaScript keeps the decimal value of a JSON number when it parses the number and formats it again. `1.0`, `1e2`
 * and `-0` keep their value; 12345678901234567890 and 1E400 do not.
 */
export function isKept(token: string): boolean {
  const number = Number(token);
  if (!Number.isFinite(number)) return false;
  const written = String(number);
  return written === token || normalForm(written) === normalForm(token);
}

/** Sign, digits without outer zeros, and power of ten of a number, as a text that is equal for equal values. */
function normalForm(token: string): string {
  const [mantissa = '', power = '0'] = token.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = whole + fraction;
  const start = firstNonZero(digits);
  if (start === digits.length) return '0';
  const end = lastNonZero(digits);
  const exponent = Number(power) - fraction.length + (digits.length - 1 - end);
  return `${token.startsWith('-') ? '-' : ''}${digits.slice(start, end + 1)}e${exponent}`;
}

// The next two functions loop, because the pattern /0+$/ takes quadratic time on a long number with many zeros.
function firstNonZero(digits: string): number {
  let at = 0;
  while (digits[at] === '0') at++;
  return at;
}

function lastNonZero(digits: string): number {
  let at = digits.length - 1;
  while (digits[at] === '0') at--;
  return at;
}
