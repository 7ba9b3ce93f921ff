/** `min` to `max` characters of a set. */
interface Part {
  /** A regular expression for one character. */
  set: string;
  min: number;
  /** Unlimited if absent. Only the last part may be. */
  max?: number;
}

/**
 * The format of a credential: a literal start and the parts after it. Formats have no word boundaries, because a credential
 * may follow any character.
 */
interface Format {
  start: string;
  parts: readonly Part[];
  /** The number of parts that stay visible, such as the user name in a URL. The start stays visible then, too. */
  visible?: number;
  /** Text that must follow the secret. It stays visible. */
  next?: string;
  /** If the format does not match at a start, it cannot match at a later one among these characters either. */
  skip?: string;
}

export interface CredentialShape {
  start: string;
  minLength: number;
  hasVisibleStart: boolean;
  /** Sticky, for the text after the start. The first group stays visible. */
  rest: RegExp;
  /** Sticky, for the text after the start: the credential is not complete at the end of the text. */
  incomplete: RegExp;
  /** Sticky: characters by which a complete credential may continue. */
  tail?: RegExp;
  /** Sticky, for the text after a match: a longer match is possible if more text comes. */
  mayGrow?: RegExp;
  skip?: RegExp;
}

const WORD = String.raw`[\w-]`;
const BASE64 = String.raw`[\w+/-]`;
/** Characters of a URL's user name and password. Quotes end a URL in a text. */
const PASSWORD = "[^\\s/?#\"'<>`\\\\]";
const USER = "[^\\s/?#\"'<>`\\\\:@]";
const KNOWN_START = 8;

const one = (character: string): Part => ({ set: escape(character), min: 1, max: 1 });
const token = (start: string, set: string, min: number): Format => ({ start, parts: [{ set, min }] });

/** Tandem's tokens and Anthropic's keys. */
const OWN_FORMATS: readonly Format[] = [
  token("tandem_", WORD, 20),
  token("sk-ant-", WORD, 8),
  // Both in base64, as in a Basic header or a Kubernetes secret.
  ...["tandem_", "sk-ant-"].flatMap(base64Forms).map((start) => token(start, BASE64, 10)),
];

const OTHER_FORMATS: readonly Format[] = [
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"].map((start) => token(start, String.raw`\w`, 20)),
  token("glpat-", WORD, 16),
  token("xapp-", WORD, 20),
  token("hf_", "[0-9A-Za-z]", 30),
  { start: "xox", parts: [{ set: "[abprs]", min: 1, max: 1 }, one("-"), { set: WORD, min: 10 }] },
  token("ya29.", WORD, 16),
  { start: "AIza", parts: [{ set: WORD, min: 35, max: 35 }] },
  // Keys of AWS, and its temporary ones.
  ...["AKIA", "ASIA"].map((start): Format => ({ start, parts: [{ set: "[0-9A-Z]", min: 16, max: 16 }] })),
  ...["sk-proj-", "sk-svcacct-"].map((start) => token(start, WORD, 20)),
  ...["sk_live_", "rk_live_"].map((start) => token(start, "[0-9A-Za-z]", 20)),
  { start: "npm_", parts: [{ set: "[0-9A-Za-z]", min: 36, max: 36 }] },
  // Private keys. A text in JSON has `\\n` for its line ends.
  ...["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "].map((kind): Format => ({
    start: `BEGIN ${kind}PRIVATE KEY-----`,
    parts: [{ set: String.raw`[\w+/=\s\\]`, min: 20 }],
    visible: 0,
  })),
  // JSON web tokens. The limits bound what a stream holds back.
  {
    start: "eyJ",
    parts: [
      { set: WORD, min: 10, max: 2_048 },
      one("."),
      { set: WORD, min: 10, max: 8_192 },
      one("."),
      { set: WORD, min: 0 },
    ],
    skip: WORD,
  },
  // The password in a URL, such as a database's.
  {
    start: "://",
    parts: [{ set: USER, min: 0, max: 128 }, one(":"), { set: PASSWORD, min: 1, max: 256 }],
    visible: 2,
    next: "@",
  },
];

export const OWN_SHAPES: readonly CredentialShape[] = OWN_FORMATS.map(compile);
export const SHAPES: readonly CredentialShape[] = [...OWN_SHAPES, ...OTHER_FORMATS.map(compile)];

/** The forms in which a known secret may be printed: as it is, escaped in a URL or in JSON, and in base64. */
export function shapesOfSecret(secret: string): CredentialShape[] {
  const forms = new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]);
  for (const form of base64Forms(secret)) {
    forms.add(form);
    forms.add(form.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return [...forms].map((form) =>
    compile({ start: form.slice(0, KNOWN_START), parts: Array.from(form.slice(KNOWN_START), one) }),
  );
}

/** The base64 characters that depend on the text alone, for the three offsets at which it may start. */
function base64Forms(text: string): string[] {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCodePoint(byte)).join("");
  return [0, 1, 2].map((offset) => {
    const encoded = btoa("x".repeat(offset) + bytes);
    return encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
}

function compile({ start, parts, visible, next = "", skip }: Format): CredentialShape {
  const shown = parts.slice(0, visible ?? 0);
  const secret = parts.slice(shown.length);
  const last = parts.at(-1);
  const isOpen = last !== undefined && last.max === undefined;
  return {
    start,
    minLength: start.length + parts.reduce((sum, { min }) => sum + min, 0),
    hasVisibleStart: visible !== undefined,
    rest: sticky(`(${shown.map(repeat).join("")})${secret.map(repeat).join("")}${next && `(?=${escape(next)})`}`),
    incomplete: sticky(incomplete([...parts, ...Array.from(next, one)])),
    ...(isOpen && { tail: sticky(`${last.set}+`) }),
    ...(next && last && { mayGrow: sticky(`${repeat({ ...last, min: 0 })}$`) }),
    ...(skip && { skip: sticky(`${skip}+`) }),
  };
}

/** Matches the parts if they break off at the end of the text. */
function incomplete(parts: readonly Part[]): string {
  const last = parts.at(-1);
  if (!last) return "(?!)";
  // From its minimum on, the last part is complete.
  let source = last.min === 0 ? "(?!)" : `${last.set}{0,${last.min - 1}}$`;
  for (const part of parts.slice(0, -1).toReversed()) {
    source =
      part.min === 1 && part.max === 1
        ? `(?:${part.set}${source}|$)`
        : `(?:${part.set}{${part.min},${part.max}}${source}|${part.set}{0,${part.max}}$)`;
  }
  return source;
}

function repeat({ set, min, max }: Part): string {
  return max === 1 ? set : `${set}{${min},${max ?? ""}}`;
}

function sticky(source: string): RegExp {
  return new RegExp(source, "y");
}

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`);
}
