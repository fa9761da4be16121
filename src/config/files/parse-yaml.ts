/** Parses YAML. Imports the parser on use, because most commands read no YAML. Throws an Error with the place of a mistake. */
export async function parseYaml(path: string, text: string): Promise<unknown> {
  const { defaultLoaders } = await import('./yaml.ts');
  return defaultLoaders['.yaml'](path, text) as unknown; // typed as any
}
