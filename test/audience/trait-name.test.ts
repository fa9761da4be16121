import { describe, expect, it } from 'vitest';
import { traitNameOf } from '../../src/audience/trait-name.ts';
import { ConfigError } from '../../src/errors.ts';

/** The first names are test cases of Segment's snake case. */
const NAMES: readonly (readonly [name: string, trait: string])[] = [
  ['High-Value Users (US)', 'high_value_users_us'],
  ['sample text', 'sample_text'],
  ['sample-text', 'sample_text'],
  ['sample_text', 'sample_text'],
  ['sample___text', 'sample_text'],
  ['sampleText', 'sample_text'],
  ['inviteYourCustomersAddInvites', 'invite_your_customers_add_invites'],
  ['sample 2 Text', 'sample_2_text'],
  ['   sample   2    Text   ', 'sample_2_text'],
  ['   $#$sample   2    Text   ', 'sample_2_text'],
  ['SAMPLE 2 TEXT', 'sample_2_text'],
  ['___$$Base64Encode', 'base64_encode'],
  ['FOO:BAR$BAZ', 'foo_bar_baz'],
  ['something.com', 'something_com'],
  ['$something%', 'something'],
  // Punctuation.
  ['VIP!', 'vip'],
  ['VIP / Gold', 'vip_gold'],
  ['churned?', 'churned'],
  ["Don't email", 'don_t_email'],
  ['A&B', 'a_b'],
  ['50% off', '50_off'],
  ['Spent > $100', 'spent_100'],
  ['a\tb\nc', 'a_b_c'],
  ['“Quoted”', 'quoted'],
  ['em—dash', 'em_dash'],
  ['C++', 'c'],
  // Digits.
  ['30 Day Actives', '30_day_actives'],
  ['30d', '30d'],
  ['top10', 'top10'],
  ['Top 10', 'top_10'],
  ['1', '1'],
  ['007', '007'],
  ['2024-11-20', '2024_11_20'],
  ['Q4 2024', 'q4_2024'],
  ['v1.2.3', 'v1_2_3'],
  ['topBuyers30d', 'top_buyers30d'],
  ['３０日', '30日'],
  ['½ price', '1_2_price'],
  // Camel case.
  ['VIPUsers', 'vipusers'],
  ['userID', 'user_id'],
  ['iOS Users', 'i_os_users'],
  ['HTTP2Server', 'http2server'],
  ['aB', 'a_b'],
  ['McDonald', 'mc_donald'],
  ['ÉcoleSupérieure', 'ecole_superieure'],
  // Accents.
  ['Café Gäste', 'cafe_gaste'],
  ['Großkunden', 'grosskunden'],
  ['Ærø Ødegård', 'aero_odegard'],
  ['İstanbul ışık', 'istanbul_isik'],
  ['Łódź', 'lodz'],
  ['Tiếng Việt', 'tieng_viet'],
  ['e\u0301te\u0301', 'ete'],
  ['ﬁrst', 'first'],
  // Emoji.
  ['🔥 Hot Leads 🔥', 'hot_leads'],
  ['a👩‍👩‍👧b', 'a_b'],
  ['1️⃣ first', '1_first'],
  ['👍🏽 fans', 'fans'],
  // Other scripts.
  ['Постоянные клиенты', 'постоянные_клиенты'],
  ['Новый Йорк', 'новый_йорк'],
  ['优质客户', '优质客户'],
  ['高価値 ユーザー', '高価値_ユーザー'],
  ['हिन्दी उपयोगकर्ता', 'हिन्दी_उपयोगकर्ता'],
  ['عملاء مميزون', 'عملاء_مميزون'],
  ['Πελάτες VIP', 'πελάτες_vip'],
  ['ลูกค้า ใหม่', 'ลูกค้า_ใหม่'],
];

const EMPTY = ['', ' ', '_', '---', '!!!', '🔥', '👩‍👩‍👧', '\u0301', '\u200b', '()', '…'];

describe('the name of a trait', () => {
  it('is tested with at least 60 names', () => {
    expect(new Set(NAMES.map(([name]) => name)).size).toBeGreaterThanOrEqual(60);
  });

  it.each(NAMES)('%j becomes %j', (name, trait) => {
    expect(traitNameOf(name)).toBe(trait);
  });

  it.each(NAMES)('%j becomes a trait that stays the same', (_, trait) => {
    expect(traitNameOf(trait)).toBe(trait);
  });

  it.each(EMPTY)('is rejected for %j, because nothing is left', (name) => {
    expect(() => traitNameOf(name)).toThrow(ConfigError);
    expect(() => traitNameOf(name)).toThrow('Expected a name with at least one letter or digit');
  });

  it('is rejected for a name that is too long', () => {
    expect(() => traitNameOf('x'.repeat(201))).toThrow('Expected a name of at most 200 characters, got 201');
  });
});
