// What the bundle has for chalk: its tables of colours are made when the first text is coloured.
export function Chalk(options) {
  const { Chalk: Real } = require('../../node_modules/chalk/source/index.js');
  return new Real(options);
}
