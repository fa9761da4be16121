// A separate module, so that the bundled program loads cosmiconfig with `require`: `import()` of a package would start
// Node's ES module loader.
export { defaultLoaders } from 'cosmiconfig';
