// A module of its own, which the program then loads by `require`: `import()` of a package starts Node's loader of ES modules first.
export { defaultLoaders } from 'cosmiconfig';
