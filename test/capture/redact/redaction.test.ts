import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { PERSONAL_KINDS } from '../../../src/capture/redact/kinds.ts';
import { Pseudonyms } from '../../../src/capture/redact/pseudonyms.ts';
import { redactBody } from '../../../src/capture/redact/redact-body.ts';
import { redactRequest } from '../../../src/capture/redact/redact-request.ts';
import { Redaction } from '../../../src/capture/redact/redaction.ts';
import { signRequest } from '../../../src/signature/schemes/signer.ts';
import { SignatureVerifier } from '../../../src/signature/signature-verifier.ts';
import { pathPattern } from '../../../src/message/path-pattern.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';
const PSEUDONYMS = new Pseudonyms(Buffer.from('a key for the pseudonyms'));

function redaction({ keep = [], drop = [] }: { keep?: readonly string[]; drop?: readonly string[] } = {}) {
  return new Redaction(PSEUDONYMS, {
    keep: keep.map(pathPattern),
    drop: drop.map(pathPattern),
    used: new Set(),
  });
}

function body(text: string | Uint8Array, type = 'application/json', rules = {}): string {
  const bytes = redactBody(Buffer.from(text), { type, coding: '' }, redaction(rules));
  return Buffer.from(bytes).toString();
}

describe('pseudonyms', () => {
  it('are a permutation without a fixed point, however short the value is', () => {
    for (const [first, count] of [
      [0, 10],
      [10, 90],
      [100, 900],
    ] as const) {
      const values = Array.from({ length: count }, (_, index) => String(first + index));
      const made = values.map((value) => PSEUDONYMS.alike(value));
      expect(made.toSorted()).toEqual(values.toSorted());
      expect(values.filter((value, index) => value === made[index])).toEqual([]);
      // The pseudonym of a pseudonym is not the value either.
      expect(values.filter((value) => PSEUDONYMS.alike(PSEUDONYMS.alike(value)) === value)).toEqual([]);
    }
  });

  it('have the shape of the value, and differ by the key', () => {
    for (const [value, shape] of [
      ['Jane Doe', /^[A-Z][a-z]{3} [A-Z][a-z]{2}$/],
      ['550e8400-e29b-41d4-a716-446655440000', /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-a[\da-f]{3}-[\da-f]{12}$/],
      ['-12.50', /^-[1-9]\d\.\d\d$/],
      ['Łucja', /^[A-Z][a-z]{11}$/],
      ['Łucja 7', /^redacted-\w{16}$/],
      ['x'.repeat(65), /^redacted-\w{16}$/],
    ] as const) {
      expect(PSEUDONYMS.alike(value)).toMatch(shape);
      expect(new Pseudonyms(Buffer.from('another key')).alike(value)).not.toBe(PSEUDONYMS.alike(value));
    }
    expect(PSEUDONYMS.alike('--')).toBe('--');
  });
});

describe('a body', () => {
  it('keeps each byte that is not personal: white space, spelling of numbers, duplicate keys, the byte order mark', () => {
    const text =
      '\u{FEFF}{ "total" : 1.50, "total":12345678901234567890,\r\n "e\\u0301":"\\u00e9", "plan": "pro" }';
    expect(body(text)).toBe(text);
    expect(body('{"id":1.0, "age" : 42}')).toMatch(/^\{"id":1\.0, "age" : [1-9]\d\}$/);
  });

  it('has the same pseudonym for an e-mail in each spelling and place', () => {
    const [email = ''] = /[^"]+@[^"]+/.exec(body('{"userId":"jane.doe@acme.test"}').slice(11)) ?? [];
    for (const text of [
      '{"email":"Jane.Doe@ACME.test"}',
      '{"a":{"b":["<jane.doe@acme.test>, hello"]}}',
      '{"jane.doe@acme.test":1}',
      '{"url":"https://a.test/u/jane.doe%40acme.test?e=jane.doe@acme.test#jane.doe@acme.test"}',
      '{"message":"{\\"email\\":\\"jane.doe@acme.test\\"}"}',
      `{"data":"${Buffer.from('{"email":"jane.doe@acme.test"}').toString('base64')}"}`,
      `{"data":"data:application/json;base64,${Buffer.from('{"a":"jane.doe@acme.test"}').toString('base64')}"}`,
      '{"text":"see jane.doe%40acme.test"}',
    ]) {
      const redacted = body(text);
      const decoded = redacted.replaceAll(/[\w+/]{24,}=*/g, (each) =>
        each.startsWith('eyJ') ? Buffer.from(each, 'base64').toString() : each,
      );
      expect(decodeURIComponent(decoded)).toContain(email);
      expect(decoded.toLowerCase()).not.toMatch(/jane|acme/);
    }
    expect(body('email=jane.doe%40acme.test&a=b', 'application/x-www-form-urlencoded')).toBe(
      `email=${encodeURIComponent(email)}&a=b`,
    );
  });

  it('has the same pseudonym for an e-mail in short base64', () => {
    for (const email of ['ab@cd.test', 'abc@cd.test', 'zoe@corp.example']) {
      const text = Buffer.from(email).toString('base64');
      const made = JSON.parse(body(JSON.stringify({ order: { email }, text }))) as { text: string };
      expect(made).toEqual({
        order: { email: Buffer.from(made.text, 'base64').toString() },
        text: made.text,
      });
      expect(made.text).not.toBe(text);
    }
  });

  it('keeps the spelling of links to an e-mail or a phone, and finds percent-encoded words beside a URL', () => {
    const [email = ''] = /[^"]+@[^"]+/.exec(body('{"userId":"jane+a@acme.test"}').slice(11)) ?? [];
    for (const [text, made] of [
      ['mailto:jane%2Ba@acme.test', `mailto:${email}`],
      ['mailto:jane%2Ba@acme.test?subject=Hi', `mailto:${email}?subject=Hi`],
      ['see https://a.test/x, or jane%2Ba@acme.test, 100%', `see https://a.test/x, or ${email}, 100%`],
      ['jane%2Ba%40acme.test', encodeURIComponent(email)],
      ['jane%252Ba%2540acme.test', encodeURIComponent(encodeURIComponent(email))],
    ]) {
      expect(body(JSON.stringify({ text }))).toBe(JSON.stringify({ text: made }));
    }
    expect(body('{"t":"sms:+4915112345678?body=hi"}')).toMatch(/^\{"t":"sms:\+999\d{12}\?body=hi"\}$/);
    expect(body('{"t":"bob%zz@acme.test"}')).not.toMatch(/bob|zz/);
  });

  it('takes no longer for a long word with a percent sign', () => {
    const text = JSON.stringify({ userId: 'jane-1', text: `${'a'.repeat(500_000)}%zz` });
    expect(body(text)).toContain('aaa%zz"}');
  });

  it('has the same pseudonym for an id as a number, a text, in a longer id and in a URL', () => {
    const redacted = JSON.parse(
      body(
        '{"user":{"id":123456},"userId":"123456","messageId":"order-123456-1","link":"/users/123456?uid=123456"}',
      ),
    ) as Record<string, unknown>;
    const id = String(redacted['userId']);
    expect(redacted).toEqual({
      user: { id: Number(id) },
      userId: id,
      messageId: `order-${id}-1`,
      link: `/users/${id}?uid=${id}`,
    });
    expect(id).not.toBe('123456');
  });

  it('has the same pseudonym for a UUID in each spelling', () => {
    const uuid = '550e8400-e29b-41d4-a716-446655440000';
    const spellings = [uuid, uuid.toUpperCase(), uuid.replaceAll('-', ''), `urn:uuid:${uuid}`];
    for (const userId of spellings.slice(0, 3)) {
      const text = body(JSON.stringify({ userId, spellings }));
      const made = JSON.parse(text) as { userId: string; spellings: readonly string[] };
      const [own = ''] = made.spellings;
      expect(own).not.toBe(uuid);
      expect(made.userId.toLowerCase().replaceAll('-', '')).toBe(own.replaceAll('-', ''));
      expect(made.spellings).toEqual([own, own.toUpperCase(), own.replaceAll('-', ''), `urn:uuid:${own}`]);
    }
  });

  it('has the same pseudonym for the number of WhatsApp in each field', () => {
    const text = '{"contacts":[{"wa_id":"46701740605"}],"from":"46701740605","phone":"+46701740605"}';
    const { from, phone, contacts } = JSON.parse(body(text)) as Record<string, string>;
    expect([contacts, phone]).toEqual([[{ wa_id: from }], `+${from}`]);
    expect(from).toMatch(/^999\d{12}$/);
  });

  it('has the same pseudonym for a phone number in the telecom of FHIR and with a trunk prefix', () => {
    const fhir = '{"telecom":[{"system":"phone","value":"5125550177"}],"order":{"t":"512-555-0177"}}';
    const { telecom, order } = JSON.parse(body(fhir)) as {
      telecom: { value: string }[];
      order: { t: string };
    };
    expect(order.t).toBe(`+${telecom[0]?.value}`);
    expect(order.t).toMatch(/^\+999\d{12}$/);
    const [trunk, plain] = ['+49 (0) 151 / 123 456 78', '+4915112345678'].map((t) =>
      body(JSON.stringify({ t })),
    );
    expect(trunk).toBe(plain);
  });

  it('leaves numbers that only equal an id', () => {
    const text = '{"user_id":123456,"amount":123456,"n":123456,"x_id":123456,"list":[123456]}';
    const own = String((JSON.parse(body(text)) as { user_id: number }).user_id);
    expect(own).not.toBe('123456');
    expect(body(text)).toBe(`{"user_id":${own},"amount":123456,"n":123456,"x_id":${own},"list":[${own}]}`);
  });

  it('takes no phone number or id for a card', () => {
    const text =
      '{"phone":"+4915112345678","phoneNumber":4915112345678,"userId":"4915112345678","text":"for 4915112345678"}';
    const redacted = JSON.parse(body(text)) as Record<string, unknown>;
    expect(String(redacted['phone'])).toBe(`+${String(redacted['phoneNumber'])}`);
    expect(redacted['phone']).toMatch(/^\+999\d{12}$/);
    expect(redacted['text']).toMatch(/^for (?!4915112345678|4000)\d+$/);
  });

  it('leaves what is not personal', () => {
    const text = JSON.stringify({
      type: 'track',
      event: 'Order Completed',
      messageId: 'ajs-next-1763673005-550e8400-e29b-41d4-a716-446655440000',
      timestamp: '2026-11-20T21:10:05.123+01:00',
      properties: {
        orderId: 'A-10042',
        total: 39.95,
        at: 1763673005123,
        plan: 'pro',
        isUser: true,
        name: 'Tee',
      },
      context: {
        library: { name: 'js', version: '1.2.3.4' },
        userAgent: 'Mozilla/5.0 Chrome/120.0.0.0',
        ip: null,
      },
    });
    expect(body(text)).toBe(text);
  });

  it('replaces the name of an object that has an e-mail, and lists others for review', () => {
    const own = redaction();
    own.json(
      '{"properties":{"name":"Jane Doe","note":"Jane was here with Tom"},"x":{"name":"Jane Doe","email":"a@b.test"}}',
    );
    expect(Object.fromEntries(own.tally.counts)).toMatchObject({ name: 3, email: 1 });
    expect([...own.tally.review.keys()]).toEqual(['properties.name', 'properties.note']);
  });

  it('lists a text of two words with a capital for review, under any key but that of a thing', () => {
    const own = redaction();
    own.json(
      '{"type":"track","event":"Plan Changed","properties":{"topic":"1:1 with Maria","greeting":"Hello Maria","to":"all of us","plan":"Gold Plan","coupon":"Summer Sale","sent":"Fri, 20 Nov 2026 21:10:05 GMT"}}',
    );
    expect([...own.tally.review.keys()]).toEqual(['properties.topic', 'properties.greeting']);
  });

  it('follows --keep and --drop, also in the messages of a batch', () => {
    const message =
      '{"type":"identify","userId":"u_123","traits":{"email":"a@b.test","plan":"pro","notes":{"x":1}}}';
    const rules = { keep: ['traits.email'], drop: ['**.notes'] };
    for (const text of [message, `{"batch":[${message}]}`, `[${message}]`]) {
      const redacted = body(text, 'application/json', rules);
      expect(redacted).toContain('"traits":{"email":"a@b.test","plan":"pro"}');
      expect(redacted).not.toContain('u_123');
    }
    expect(body(message, '', { keep: ['**'] })).toBe(message);
  });

  it('keeps each byte beside what --drop removes', () => {
    const [text, rest] = [
      '{ "x" : {"x":1},"n":12345678901234567890, "p":19.90 , "x":null,\t"l":[ {"a":1.0,"x":"}"} ,{"x":2}], "s":"\\u00e9, \\"{","x":[]}',
      '{"n":12345678901234567890, "p":19.90 ,\t"l":[ {"a":1.0} ,{}], "s":"\\u00e9, \\"{"}',
    ];
    expect(body(text, '', { drop: ['**.x'] })).toBe(rest);
    expect(body('[[1.0,2],[],[3]]', '', { drop: ['0.0', '1.0', '2'] })).toBe('[[2],[]]');
  });

  it('is unpacked and packed again', () => {
    const packed = redactBody(
      gzipSync('{"email":"jane@acme.test"}'),
      { type: '', coding: 'gzip' },
      redaction(),
    );
    expect(gunzipSync(packed).toString()).toMatch(/^\{"email":"\w{16}@redacted\.example"\}$/);
  });

  it.each([
    ['plain text', Buffer.from('Jane called'), 'text/plain', 'a text'],
    ['XML', Buffer.from('<a b="c=d&e=f">Jane</a>'), 'application/xml', 'a text'],
    [
      'a multipart form',
      Buffer.from('--b\r\nContent-Disposition: form-data\r\n\r\nJane'),
      'multipart/form-data',
      'a form with files',
    ],
    ['binary', Buffer.from([0xff, 0xd8, 0x00]), 'image/jpeg', 'binary'],
    ['deep', Buffer.from('['.repeat(100_000) + ']'.repeat(100_000)), 'application/json', '512 levels'],
    ['corrupt gzip', gzipSync('{}').subarray(0, 12), 'application/json', 'corrupt'],
    ['a gzip bomb', gzipSync(Buffer.alloc(20_000_000, ' ')), 'application/json', '8 MiB'],
    ['large', Buffer.alloc(9_000_000, ' '), 'application/json', '8 MiB'],
    [
      'a URL in a URL',
      Buffer.from(JSON.stringify({ a: '?a=b'.repeat(10_000) })),
      'application/json',
      'texts are nested',
    ],
  ])('is rejected if it is %s', (_, bytes, type, reason) => {
    expect(() => redactBody(bytes, { type, coding: '' }, redaction())).toThrow(reason);
  });

  it('is rejected with another content coding', () => {
    expect(() => redactBody(Buffer.from('x'), { type: '', coding: 'br' }, redaction())).toThrow(
      'content coding br',
    );
  });
});

describe('personal data', () => {
  it.each([
    ['below a personal key', '{"password":{"value":"hunter2"},"ssn":{"a":[{"value":"hunter2"}]}}', 'hunter2'],
    ['of HubSpot', '{"firstname":{"value":"Adelaide"},"phone":{"value":"5551234"}}', 'Adelaide', '5551234'],
    ['of a person', '{"contact":{"first":"Ignatius","last":"Loyola"}}', 'Ignatius', 'Loyola'],
    ['in a list', '{"firstName":["Anton",{"x":"Berta"}]}', 'Anton', 'Berta'],
    ['of a named field', '[{"name":"first_name","value":"Quin"},{"key":"ssn","value":"QX9"}]', 'Quin', 'QX9'],
    [
      'of Typeform',
      '{"answers":[{"type":"text","text":"Lysander","field":{"ref":"first_name"}}]}',
      'Lysander',
    ],
    ['of Shopify', '{"note_attributes":[{"name":"Gift recipient","value":"Aloysius"}]}', 'Aloysius'],
    ['of Stripe', '{"custom_fields":[{"key":"ssn","text":{"value":"QX9"},"type":"text"}]}', 'QX9'],
    ['of a form', '{"title":"Your name","value":"Philippa Fish"}', 'Philippa'],
    ['in another case', '{"firstName":"Wilma","text":"Hello WILMA, wilma"}', /wilma/i],
    ['after a text', '{"text":"Hello Wilma","payload":"{\\"firstName\\":\\"Wilma\\"}"}', 'Wilma'],
    [
      'in other digits',
      '{"phone":"+14158675309","id":14158675309,"t":"415 867 5309"}',
      '4158675309',
      '867 5309',
    ],
    ['of a place', '{"lat":52.520008,"x":[52.520008,1],"t":"at 52.520008"}', '52.520008'],
    ['with a short domain', '{"t":"to ann@x.test"}', 'ann@'],
    ['in front of an e-mail', '{"from":"Jane Roe <jane@foo.test>","text":"ask Jane Roe"}', 'Jane', 'Roe'],
    ['that is a phone number', '{"t":"1-212-867-5309 or 1-800-555-1234"}', '867', '1234'],
    ['in a text', '{"t":"login password=hunter2 user=jroe, ssn: QX9"}', 'hunter2', 'jroe', 'QX9'],
    [
      'in a query',
      '{"q":"signup(firstName: \\"Clothilde\\", password:\\"hunter2\\")"}',
      'Clothilde',
      'hunter2',
    ],
    ['in headers', '{"t":"Cookie: sid=abc7; b=c8\\nAuthorization: Token x9"}', 'abc7', 'c8', 'x9'],
    ['in a URL', '{"u":"/?pw=hunter2&hmac=h7&jsessionid=j7"}', 'hunter2', 'h7', 'j7'],
    [
      'that is a secret',
      '{"token":"12ab34","u":"https://a.test/o/12ab34/x?p=12ab34","t":"of 12ab34"}',
      '12ab34',
    ],
    [
      'that is a signature',
      `{"signature":"${'ab12'.repeat(16)}","hmacSignature":"${'Ab+/'.repeat(7)}="}`,
      'ab12',
      'Ab',
    ],
    ['under a longer key', '{"userpassword":"QX-99","passwordHash":"QX-98","clientsecret":"QX-97"}', 'QX-9'],
    ['that is a code', '{"sms_code":"448812","door_code":9917,"t":"Your code is 448812"}', '448812', '9917'],
  ])('%s is replaced', (_, text, ...values) => {
    const redacted = body(text);
    for (const value of values) expect(redacted).not.toMatch(value);
    expect(() => JSON.parse(redacted) as unknown).not.toThrow();
  });

  it.each([
    ['github_pat_', '11ABCDEFG0_abcdefghij'],
    ['glpat-', 'ABCDEFGHIJKLMNOPQRST'],
    ['npm_', 'abcdefghij0123456789'],
    ['AIza', 'SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY'],
    ['SG.', 'ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf09kqeF8tAmbih'],
    ['sk-proj-', 'abcdefghij0123456789ABCD'],
    ['sk-ant-api03-', 'abcdefghij0123456789ABCD-efgh_AA'],
    ['shpss_', '0123456789abcdef0123456789abcdef'],
    ['xapp-', '1-A0123456789-1234567890123-0123456789abcdef0123456789abcdef'],
    ['ya29.', 'a0AfH6SMabcdefghij0123456789-abcd_ef'],
    ['1//0', 'gabcdefghij0123456789-abcdefghij'],
    ['glrt-', 'abcdefghij0123456789'],
    ['pypi-', 'AgEIcHlwaS5vcmcabcdefghij0123456789'],
    ['lin_api_', 'abcdefghij0123456789abcdefghij0123456789'],
    ['ATATT3', 'xFfGF0abcdefghij-0123456789_abcdef=2FC30DA1'],
    ['sq0atp-', 'abcdefghij0123456789AB'],
    ['hf_', 'abcdefghijABCDEFGHIJabcdefghijABCD'],
    ['dop_v1_', '0123456789abcdef0123456789abcdef'],
    ['sbp_', '0123456789abcdef0123456789abcdef01234567'],
    ['pat-na1-', '12345678-1234-4abc-9def-1234567890ab'],
    ['AGE-SECRET-KEY-', '1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE'],
    ['EAA', 'GabcdefghijABCDEFGHIJ0123456789'.repeat(4)],
    ['Token ', '0123456789abcdef0123456789abcdef01234567'],
    [
      'https://acme.webhook.office.com/webhookb2/',
      '11111111-2222-4333-8444-555555555555@6/IncomingWebhook/0a1b',
    ],
    ['https://hooks.zapier.com/hooks/catch/', '1234567/abcdefg/'],
    ['110201543:', 'AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'],
    ['-----BEGIN RSA PRIVATE KEY-----\n', 'MIIEpAIBAAKCAQEA7bq\n-----END RSA PRIVATE KEY-----'],
    ['https://hooks.slack.com/services/', 'T00000000/B00000000/XXXXabcdXXXX'],
    ['https://discord.com/api/webhooks/12345678/', 'abcdefABCDEF_abcdefABCDEF'],
  ])('that is a token under a neutral key is replaced: %s…', (prefix, secret) => {
    // The two parts stand apart here, so that no scanner takes them for a token.
    const token = prefix + secret;
    expect(body(JSON.stringify({ a: token, b: `see ${token}, now` }))).not.toContain(secret.slice(0, 12));
  });

  it.each([
    '{"invoice":"0012345678","dims":"100 200 3000","ns":"std::a::b","x":"a::b"}',
    '{"a":"pi_3MtwBwLkdIwHu7ix28a3tqPa","b":"hf_transformers_cache_dir","c":"Token expired yesterday"}',
    '{"a":"logo@2x.png","b":"lodash@4.17.21","c":"git@github.com:a/b.git"}',
    '{"properties":{"screen_name":"Home","age":{"type":"years"}}}',
    '{"type":"page","name":"Home","properties":{"name":"Home","phone":null}}',
    '{"topic":"contact.created","object":{"topic":"My Meeting"}}',
    '{"signatures":[{"signature_id":"78caf2a1d01cd39cea2bc1cbb340dac3"}],"p_signature":"Best regards"}',
    '{"status_code":"448812","auth":"none","pass":12,"cart_token":"c1b2c3d4e5f6"}',
    '{"user":{"score":-0,"delta":-12,"ratio":-0.50},"x":-0}',
    '{"user":{"plan":"pro"},"session":{"pages":3},"field":"email","type":"email"}',
  ])('is not in %s', (text) => expect(body(text)).toBe(text));

  it('leaves the names of fields that are also names of people', () => {
    const text = '{"firstName":"Grant","lastName":"Price","price":1,"price_set":{"grant":2}}';
    expect(body(text)).toMatch(
      /^\{"firstName":"\w+","lastName":"\w+","price":1,"price_set":\{"grant":2\}\}$/,
    );
    expect(body(text)).not.toContain('Grant');
  });

  it('leaves words, plans and time zones that are also names of people', () => {
    const user = '"user":{"first_name":"Paris","last_name":"Will"}';
    const rest = '"plan":"Will","env":"paris","zone":"Europe/Paris","t":"we will call at Europe/Paris"';
    expect(body(`{${user},${rest}}`)).toMatch(new RegExp(`,${rest}\\}$`));
    expect(body(`{${user},"t":"call Will, or PARIS, or paris"}`)).toMatch(
      /call (?!Will)\w+, or (?!PARIS)[A-Z]+, or (?!paris)[a-z]+"/,
    );
  });

  it.each([
    ['Last, First', 'Müller, Jürgen', 'MÜLLER and Jürgen. Müller’s', 'müller', 'jürgen'],
    ['two letters', 'Wei Ng', 'Ng called; Ms. NG, Wei-Ng', 'wei', 'ng'],
    ['no spaces', '李小龙', '今天李小龙来了', '李小龙'],
    ['hyphens', 'Anna Schmidt-Roth', 'Schmidt Roth, Frau Roth, ANNA SCHMIDT', 'anna', 'schmidt', 'roth'],
    ['apostrophes', "Ian O'Brien-Smith", 'o’brien-smith, O’Brien, Smith', 'ian', 'brien', 'smith'],
    ['accents that are written apart', 'José García', 'Jose\u0301 GARCI\u0301A', 'jose', 'garci'],
  ])('finds a name with %s in other texts', (_, fullName, text, ...words) => {
    for (const form of ['NFC', 'NFD'] as const) {
      const redacted = body(JSON.stringify({ user: { fullName: fullName.normalize(form) }, text }));
      const left = redacted.slice(redacted.indexOf('"text"')).normalize('NFD').toLowerCase();
      for (const word of words) expect(left).not.toContain(word.normalize('NFD'));
    }
  });

  it('leaves codes, particles and other words of two or three letters that are also in a name', () => {
    const user = '"user":{"name":"Dr. Ludwig van Ng","other_name":"Do","initials":"IT"}';
    const rest = '"country":"NG","t":"van ng: Do it, Dr. and IT"';
    expect(body(`{${user},${rest}}`)).toMatch(new RegExp(`,${rest}\\}$`));
  });

  it('leaves a status that is also a name of a person', () => {
    const text = '{"contact":{"firstName":"Grace","lastName":"Active"},"status":"active","type":"grace"}';
    expect(body(text)).toMatch(/"status":"active","type":"grace"\}$/);
  });

  it('leaves the type and the name of an event', () => {
    const text = '{"type":"track","event":"Order Completed","userId":"track","p":{"lastName":"Order"}}';
    expect(body(text)).toMatch(/^\{"type":"track","event":"Order Completed","userId":"(?!track)\w{5}"/);
  });

  it('stays valid: months, years, dates, URLs', () => {
    const text =
      '{"exp_month":11,"exp_year":2029,"birthday":{"year":1985,"month":3,"day":27},"dob":"March 27, 1985"}';
    const { exp_month, exp_year, birthday, dob } = JSON.parse(body(text)) as {
      exp_month: number;
      exp_year: number;
      birthday: Record<'year' | 'month' | 'day', number>;
      dob: string;
    };
    const months = Array.from({ length: 12 }, (_, index) => index + 1);
    for (const part of [exp_month, birthday.month, birthday.day]) expect(months).toContain(part);
    expect([exp_year > 2000, birthday.year > 1900, Number.isNaN(Date.parse(dob))]).toEqual([
      true,
      true,
      false,
    ]);
    const { db } = JSON.parse(body('{"db":"postgres://admin:pw@10.1.2.3/db"}')) as { db: string };
    expect(new URL(db)).toMatchObject({ hostname: expect.stringMatching(/^198\.1[89]\./), pathname: '/db' });
  });

  it('has one pseudonym in a form, also in the middle of its texts', () => {
    const form = body('email=jane%40a.test&Body=Hi+from+jane@a.test', 'application/x-www-form-urlencoded');
    const { email, Body } = Object.fromEntries(new URLSearchParams(form));
    expect(Body).toBe(`Hi from ${email}`);
  });

  it('stays a form in Latin-1, and reads the percent sign of a text', () => {
    const form = body('total=1&firstName=J%FCrgen&note=J%fCrgen+%E0+100%25&t=50%+for+a%40b.test', FORM_TYPE);
    const [, name = ''] = /&firstName=(\w+)&/.exec(form) ?? [];
    expect(form).toMatch(
      new RegExp(`&note=${name}%20%E0%20100%25&t=50%25%20for%20\\w{16}%40redacted\\.example$`),
    );
    expect(name).not.toMatch(/rgen/);
  });

  it('has another number for each number, also a negative one', () => {
    const numbers = Array.from({ length: 19 }, (_, index) => Number(PSEUDONYMS.alike(String(index - 9))));
    expect(new Set(numbers.map((number) => number + 0)).size).toBe(19);
  });
});

describe('the subject of an object', () => {
  it.each([
    ['by its type', '{"object":"customer","id":"cus_Zr81","status":"active","plan":"gold"}', 'cus_Zr81'],
    ['by its key', '{"reporter":{"name":"xliddell","active":true,"locale":"en"}}', 'xliddell'],
    ['by the event', '{"type":"customer.updated","data":{"object":{"id":"c-81","seen":"x@y"}}}', 'c-81'],
    ['by the id of the event', '{"subscriptionType":"contact.creation","objectId":8812377}', '8812377'],
    ['by its fields', '{"vid":3234574,"properties":{"firstname":{"value":"Zoe"}}}', '3234574', 'Zoe'],
    ['around it', '{"member":{"nick":"Snorri","level":{"motto":"Ever on"}}}', 'Snorri', 'Ever on'],
    ['in a form', 'data[id]=8a25ff&data[email]=a%40b.test', '8a25ff'],
    [
      'in a contact form',
      '{"your-name":"Wilma Roe","your-email":"a@b.test","your-message":"hi"}',
      'Wilma',
      'Roe',
    ],
    ['in a key', '{"shopperReference":"s-7781","card_summary":"7777"}', 's-7781', '7777'],
    [
      'in one word',
      '{"traits":{"userid":"771-X"},"patientid":90233,"callername":"Ann Roe"}',
      '771-X',
      '90233',
      'Roe',
    ],
    ['in a role', '{"claimant":{"name":"Wilma"},"CallerName":"ROE ANN"}', 'Wilma', 'ROE'],
    ['in a path', '{"order":{"link":"https://a.test/customers/2617/edit"}}', '2617'],
    ['in a query', '{"link":"/?name=Jane%20Quimble"}', 'Quimble'],
    ['that is a means of payment', '{"account":{"mask":"0617","nickname":"Spare"}}', '0617', 'Spare'],
    ['of a field', '[{"field":"assignee","from":"opell","fromString":"Osric Pell"}]', 'opell', 'Osric'],
    ['of a dated field', '[{"type":"date","date":"1979-11-05","field":{"ref":"dob"}}]', '1979-11-05'],
    [
      'with noise',
      '{"SSN__c":"QX-99","cf_gender":"female","q3_name":{"first":"Tam"}}',
      'QX-99',
      'female',
      'Tam',
    ],
  ])('%s makes its values personal', (_, text, ...values) => {
    const redacted = decodeURIComponent(body(text, text.startsWith('data') ? FORM_TYPE : undefined));
    for (const value of values) expect(redacted).not.toContain(value);
  });

  it('is the event of a header for the whole body', () => {
    const headers = [['X-Shopify-Topic', 'customers/update']] as const;
    const [text, order] = [Buffer.from('{"id":706405506,"state":"enabled"}'), 'orders/create'];
    const redact = (topic: string) =>
      redactRequest(
        { method: 'POST', url: '/', headers: headers.map(([name]) => [name, topic]), body: text },
        redaction(),
        { ownSchemes: [], secrets: undefined, now: 0 },
      ).body;
    expect(Buffer.from(redact('customers/update')).toString()).toMatch(
      /^\{"id":(?!706405506)\d{9},"state":"enabled"\}$/,
    );
    expect(Buffer.from(redact(order))).toEqual(text);
  });

  it.each([
    '{"id":"evt_1Pq2LkJ2eZvKYlo2C8xZ3abc","type":"charge.succeeded","data":{"object":{"object":"charge","id":"ch_3Pq2LkJ2eZvKYlo21abcdef0","payment_intent":"pi_3Pq2LkJ2eZvKYlo21zzz"}}}',
    '{"user":{"logins":12,"role":"admin","time_zone":"Europe/Vienna","since":"2026-01-01","company":{"name":"Acme","id":"c-1"},"plan_id":"p1"}}',
    '{"organization":{"login":"acme-org","id":38302899,"website":"https://acme.test"},"license":{"key":"mit"}}',
    '{"credit_card":{"exp_month":8,"exp_year":2029,"brand":"visa","checks":{"cvc_check":"pass"}}}',
    'AccountSid=AC0123456789abcdef0123456789abcdef&MessageSid=SM1a2b3c4d5e6f708192a3b4c5d6e7f809',
    '{"cart_token":"68778783ad298f1c80c3bafcddeea02f","event":"Gala","store":{"name":"Main","address":"1 Main St"}}',
    '{"type":"contact.propertyChange","propertyName":"firstname","items":[{"name":"Rose Tea","sku":"R1"}]}',
  ])('leaves what is of a thing or plain: %s', (text) => {
    expect(body(text, text.startsWith('{') ? undefined : FORM_TYPE)).toBe(text);
  });

  it('gives a name one pseudonym: alone, in a full name, in each case and order', () => {
    const names = ['Jane', 'Doe', 'Jane Doe', 'DOE, Jane', 'jane.doe', 'JANE DOE'];
    const [first = '', last = '', ...others] = names.map(
      (name) =>
        (JSON.parse(body(JSON.stringify({ user: { name } }))) as { user: { name: string } }).user.name,
    );
    expect(others).toEqual([
      `${first} ${last}`,
      `${last.toUpperCase()}, ${first}`,
      `${first}.${last}`.toLowerCase(),
      `${first} ${last}`.toUpperCase(),
    ]);
    expect(body('{"firstName":"Jose\u0301"}')).toBe(body('{"firstName":"Jos\u00e9"}'));
  });

  it('gives an id one pseudonym in each place that refers to the person', () => {
    const texts = [
      '{"object":"customer","id":"cus_Zr81"}',
      '{"customer":"cus_Zr81"}',
      '{"customer_id":"cus_Zr81"}',
      '{"buyer":{"external_id":"cus_Zr81"}}',
      '{"link":"/customers/cus_Zr81"}',
    ];
    const ids = texts.map((text) => /[a-z]{3}_[A-Z][a-z]\d\d/.exec(body(text))?.[0]);
    expect(new Set(ids).size).toBe(1);
  });
});

describe('a request', () => {
  it('keeps no signature whose digest is of another length than that of its scheme', () => {
    const own = redaction();
    const signed = (digits: number): readonly unknown[] =>
      redactRequest(
        { method: 'POST', url: '/', headers: [['X-Signature', 'a'.repeat(digits)]], body: Buffer.from('{}') },
        own,
        { ownSchemes: [], secrets: undefined, now: 0 },
      ).headers;
    expect(signed(40)).toEqual([['X-Signature', expect.stringMatching(/^(?!a{40})[\da-f]{40}$/)]]);
    expect(own.tally.counts.get('signature')).toBeUndefined();
    expect(signed(64)).toEqual([['X-Signature', '***']]);
    expect(own.tally.counts.get('signature')).toBe(1);
  });

  it('keeps the names and the structure of its headers, also if a person has the same name', () => {
    const plain = [
      ['X-Content-Event', 'push'],
      ['X-Event-Key', 'repo:push'],
      ['User-Agent', 'Content-Hookshot/1.0 (Json)'],
      ['Accept', 'application/json, text/html;q=0.9'],
    ] as const;
    const personal = [
      ['From', 'Json Content <j@content.test>'],
      ['X-Note', 'by Json and Content'],
    ] as const;
    const text = '{"user":{"first_name":"Json","last_name":"Content"},"u":"https://api.content.com/x"}';
    const { headers, body: redacted } = redactRequest(
      { method: 'POST', url: '/', headers: [...plain, ...personal], body: Buffer.from(text) },
      redaction(),
      { ownSchemes: [], secrets: undefined, now: 0 },
    );
    expect(headers.slice(0, plain.length)).toEqual(plain);
    expect(headers.map(([name]) => name).slice(plain.length)).toEqual(['From', 'X-Note']);
    expect(JSON.stringify(headers.slice(plain.length))).not.toMatch(/Json|Content|content\.test/);
    expect(Buffer.from(redacted).toString()).toContain('https://api.content.com/x');
  });

  it('loses the secret in its own target', () => {
    const [slack, discord] = ['/services/T0A1/B0B1/', '/api/webhooks/123456789012345678/'];
    expect(redaction().url(`${slack}Xy12`)).toBe('/services/***');
    expect(redaction().url(`${discord}aB-3?wait=true`)).toBe(`${discord}***?wait=true`);
    expect(redaction().url('/services/TEST/b')).toBe('/services/TEST/b');
  });

  it('is signed again with the names of the headers that it has', () => {
    const text = Buffer.from('{"email":"a@b.test"}');
    const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
    const scheme = 'standard-webhooks';
    const signature = signRequest({
      body: text,
      secrets: [secret],
      scheme,
      id: 'm1',
      at: 9e11,
    });
    const older = Object.entries(signature).map(
      ([name, value]) => [name.replace('webhook', 'svix'), value] as const,
    );
    const { headers, body: signed } = redactRequest(
      { method: 'POST', url: '/', headers: older, body: text, at: 9e11 },
      redaction(),
      { ownSchemes: [], secrets: [secret], now: 0 },
    );
    expect(headers.map(([name]) => name)).toEqual(['svix-id', 'svix-timestamp', 'svix-signature']);
    const verifier = new SignatureVerifier({ headers, scheme, secrets: [secret], at: 9e11 });
    expect(verifier.update(signed).verdict()).toMatchObject({ valid: true });
  });

  it('loses secrets and digests of the old body, and masks signatures that cannot be made again', () => {
    const own = redaction();
    const { headers, url } = redactRequest(
      {
        method: 'POST',
        url: '/hook?token=abc&next=https%3A%2F%2Fa.test%2F%3Fapi_key%3Dabc&email=a%40b.test',
        headers: [
          ['Authorization', 'Bearer abc'],
          ['Cookie', 'a=b'],
          ['X-Api-Key', 'abc'],
          ['Content-MD5', 'Q2hlY2s='],
          ['Content-Digest', 'sha-256=:x:'],
          ['X-Twilio-Signature', 'abc'],
          ['Idempotency-Key', 'k-1'],
          ['X-Real-Ip', '84.1.2.3'],
          ['content-length', '99'],
        ],
        body: Buffer.from('{"a":1}'),
      },
      own,
      { ownSchemes: [], secrets: undefined, now: 0 },
    );
    expect(headers).toEqual([
      ['Authorization', '***'],
      ['Cookie', '***'],
      ['X-Api-Key', '***'],
      ['Content-Digest', '***'],
      ['X-Twilio-Signature', '***'],
      ['Idempotency-Key', 'k-1'],
      ['X-Real-Ip', expect.stringMatching(/^198\.1[89]\./)],
      ['content-length', '7'],
    ]);
    expect(url).toMatch(
      /^\/hook\?token=\*\*\*&next=https%3A%2F%2Fa\.test%2F%3Fapi_key%3D\*\*\*&email=\w{16}%40redacted\.example$/,
    );
    expect(own.tally.counts.get('signature')).toBe(2);
  });
});

it.each([...new Set(PERSONAL_KINDS.map(({ kind }) => kind))])('documents the kind %s', (kind) => {
  const page = readFileSync(new URL('../../../docs/captures.md', import.meta.url), 'utf8');
  expect(page).toMatch(new RegExp(`^\\| ${kind} +\\|`, 'm'));
});
