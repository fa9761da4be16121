import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { whyNotPublic } from '../../../src/transport/route/public-address.ts';

/**
 * IANA's special-purpose address registries (IPv4: RFC 6890 and later entries; IPv6 likewise), with the multicast blocks,
 * written down apart from the code. Arithmetic on them is done below with whole numbers, not with what the code uses.
 */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Not a special-purpose block, but the metadata address of Azure's machines.
  '168.63.129.16/32',
].map(blockOf);

const MAPPED = blockOf('::ffff:0:0/96');
const NAT64 = blockOf('64:ff9b::/96');

const SPECIAL_V6 = [
  '::/128',
  '::1/128',
  '::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '100:0:0:1::/64',
  '2001::/23',
  '2001::/32',
  '2001:2::/48',
  '2001:3::/32',
  '2001:4:112::/48',
  '2001:10::/28',
  '2001:20::/28',
  '2001:30::/28',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
].map(blockOf);

const GLOBAL_UNICAST = blockOf('2000::/3');

describe('whyNotPublic', () => {
  it.each([
    ['0.0.0.0', 'unspecified'],
    ['10.1.2.3', 'private'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['127.0.0.1', 'loopback'],
    ['169.254.1.1', 'link-local'],
    ['169.254.169.254', 'cloud metadata'],
    ['100.100.100.200', 'cloud metadata'],
    ['168.63.129.16', 'cloud metadata'],
    ['192.0.2.1', 'reserved'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['fec0::1', 'reserved'],
    ['fd00:ec2::254', 'cloud metadata'],
    ['fd20:ce::254', 'cloud metadata'],
    ['fd12::1', 'unique-local'],
    ['ff02::1', 'multicast'],
    ['2001:db8::1', 'reserved'],
    ['2002:7f00:1::', 'reserved'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'reserved'],
    ['::8.8.8.8', 'reserved'],
    ['0::8.8.8.8', 'reserved'],
    ['::ffff:10.0.0.1%eth0', 'private'],
    ['::ffff:0:127.0.0.1', 'reserved'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:a9fe:a9fe', 'cloud metadata'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['64:ff9b::a9fe:a9fe', 'cloud metadata'],
    ['64:ff9b:1::8.8.8.8', 'reserved'],
    ['4000::1', 'reserved'],
  ])('classifies %s as %s', (address, reason) => {
    expect(whyNotPublic(address)).toBe(reason);
  });

  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '100.128.0.0',
    '172.32.0.0',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2606:4700::1111',
  ])('allows %s', (address) => {
    expect(whyNotPublic(address)).toBeUndefined();
  });

  it.each(['', 'localhost', '127.1', '0177.0.0.1', '2130706433', '10.0.0.0/8', '[::1]'])(
    'rejects %j, which a lookup never returns',
    (text) => {
      expect(whyNotPublic(text)).toBe('not an IP address');
    },
  );

  it.each([...SPECIAL_V4, ...SPECIAL_V6])('rejects $cidr from its first address to its last', (block) => {
    expect(whyNotPublic(shown(block.first, block.bits))).toBeDefined();
    expect(whyNotPublic(shown(block.last, block.bits))).toBeDefined();
    fc.assert(
      fc.property(within(block), (address) => {
        expect(whyNotPublic(shown(address, block.bits))).toBeDefined();
      }),
    );
  });

  it.each(SPECIAL_V4)('allows the neighbors of $cidr unless they are special too', ({ first, last }) => {
    for (const neighbour of [first - 1n, last + 1n].filter((each) => each >= 0n && each < 2n ** 32n)) {
      expect(whyNotPublic(shown(neighbour, 32)) !== undefined).toBe(isSpecialV4(neighbour));
    }
  });

  it.each(SPECIAL_V6)('allows the neighbors of $cidr unless they are special too', ({ first, last }) => {
    for (const neighbour of [first - 1n, last + 1n].filter((each) => each >= 0n && each < 2n ** 128n)) {
      expect(whyNotPublic(shown(neighbour, 128)) !== undefined).toBe(isSpecialV6(neighbour));
    }
  });

  it('agrees with the registries on every IPv4 address, in all its IPv6 forms', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }), (address) => {
        const isSpecial = isSpecialV4(address);
        expect(whyNotPublic(shown(address, 32)) !== undefined).toBe(isSpecial);
        expect(whyNotPublic(shown(MAPPED.first + address, 128)) !== undefined).toBe(isSpecial);
        expect(whyNotPublic(shown(NAT64.first + address, 128)) !== undefined).toBe(isSpecial);
      }),
      { numRuns: 2_000 },
    );
  });

  it('agrees with the registries on every IPv6 address', () => {
    const anywhere = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });
    fc.assert(
      fc.property(fc.oneof(within(GLOBAL_UNICAST), within(blockOf('2001::/16')), anywhere), (address) => {
        expect(whyNotPublic(shown(address, 128)) !== undefined).toBe(isSpecialV6(address));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('an address in several spellings', () => {
  it('is classified in the same way', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), dotted()), (spelled) => {
        // The form of RFC 5952, with groups instead of a dotted end.
        const usual = new URL(`http://[${spelled}]/`).hostname.slice(1, -1);
        const reason = whyNotPublic(usual);
        expect(whyNotPublic(spelled)).toBe(reason);
        expect(whyNotPublic(spelled.toUpperCase())).toBe(reason);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Embeds an IPv4 address behind a prefix that is, or looks like, a prefix for IPv4 addresses. */
function dotted(): fc.Arbitrary<string> {
  const prefixes = [
    '::',
    '0::',
    '::0:',
    '::ffff:',
    '::FFFF:0:',
    '0:0:0:0:0:ffff:',
    '64:ff9b::',
    '64:ff9b:1::',
    '2002::',
  ];
  return fc.tuple(fc.constantFrom(...prefixes), fc.ipV4()).map((parts) => parts.join(''));
}

interface Block {
  readonly cidr: string;
  readonly bits: number;
  readonly first: bigint;
  readonly last: bigint;
}

function blockOf(cidr: string): Block {
  const [address = '', prefix] = cidr.split('/');
  const bits = address.includes(':') ? 128 : 32;
  const first = bits === 128 ? numberOfV6(address) : numberOfV4(address);
  return { cidr, bits, first, last: first + 2n ** BigInt(bits - Number(prefix)) - 1n };
}

function numberOfV4(address: string): bigint {
  return address.split('.').reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
}

function numberOfV6(address: string): bigint {
  const [head = [], tail = []] = address
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
}

/** Dotted for 32 bits, in eight groups for 128. */
function shown(address: bigint, bits: number): string {
  const hex = address.toString(16).padStart(bits / 4, '0');
  if (bits === 128) return (hex.match(/.{4}/g) ?? []).join(':');
  return (hex.match(/.{2}/g) ?? []).map((octet) => Number.parseInt(octet, 16)).join('.');
}

function within({ first, last }: Block): fc.Arbitrary<bigint> {
  return fc.bigInt({ min: first, max: last });
}

function holds({ first, last }: Block, address: bigint): boolean {
  return address >= first && address <= last;
}

function isSpecialV4(address: bigint): boolean {
  return SPECIAL_V4.some((block) => holds(block, address));
}

function isSpecialV6(address: bigint): boolean {
  const bearer = [MAPPED, NAT64].find((block) => holds(block, address));
  if (bearer) return isSpecialV4(address - bearer.first);
  return !holds(GLOBAL_UNICAST, address) || SPECIAL_V6.some((block) => holds(block, address));
}
