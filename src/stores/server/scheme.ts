const SCHEMES = ['redis:', 'rediss:', 'postgres:', 'postgresql:'] as const;

export type Scheme = (typeof SCHEMES)[number];

/** Of the URL of a server; undefined for what is none. It loads nothing, for those who have a file. */
export function schemeOf(url: string): Scheme | undefined {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase();
  return SCHEMES.find((known) => known === scheme);
}

/** Whether it is the URL of a server, and not of a file. */
export function isServer(url: string): boolean {
  return schemeOf(url) !== undefined;
}
