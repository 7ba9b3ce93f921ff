/**
 * Signs of prompt injection: text that addresses a model instead of people. A match only means that results need a
 * person's review. No match proves nothing; the text is still treated as data.
 */
const SIGNS: readonly [reason: string, sign: RegExp][] = [
  [
    "asks to disregard instructions",
    /\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|any|your|the)\b[^.\n]{0,30}\b(?:instructions?|prompts?|rules?|guidelines?|context)\b/i,
  ],
  [
    "asks to disregard instructions",
    /(?:ignorier\w*|vergiss)[^.\n]{0,40}(?:anweisung|vorgabe|regel)|(?:ignore[zr]?|oublie[zr]?)[^.\n]{0,40}(?:instructions|consignes)|(?:ignora|olvida)[^.\n]{0,40}(?:instrucciones|istruzioni)|忽略[^。\n]{0,20}(?:指令|指示|说明)|игнорируй[^.\n]{0,40}инструкц/i,
  ],
  [
    "gives the model another part to play",
    /\byou are (?:now|no longer)\b[^.\n]{0,60}\b(?:assistant|ai|model|agent|dan|mode|admin)/i,
  ],
  [
    "imitates the form of a conversation with a model",
    /<\/?(?:system|assistant|human|user|instructions?|tool_use|function_calls|antml:\w+)\b[^>]{0,80}>|<\|(?:im_start|im_end|system|endoftext)\|>|^\s*(?:\[?(?:system|assistant)\]?)\s*:/im,
  ],
  [
    "speaks to whatever model reads it",
    /\b(?:if you are|as) an? (?:ai|llm|language model|assistant|agent)\b|\b(?:attention|note|message|instructions?) (?:to|for) (?:the |any |all )?(?:ai|llms?|language models?|assistants?|agents?|claude|chatgpt)\b/i,
  ],
  [
    "asks that something be kept from people",
    /\b(?:do not|don't|never|without) (?:tell|inform|mention|notif\w+|alert\w*|reveal|telling|informing|mentioning)\b[^.\n]{0,40}\b(?:user|human|reviewer|anyone|person|people)\b/i,
  ],
  [
    "asks to be remembered as a rule by the reader",
    /\b(?:always|must|you should) (?:remember|store|save|memori[sz]e)\b[^.\n]{0,60}\b(?:memory|memories|rule|fact|context|wiki)\b/i,
  ],
  [
    "asks to call tools or send data",
    /\b(?:call|invoke|run|execute|use)\b[^.\n]{0,30}\b(?:the )?(?:tool|function|bash|shell|curl|wget)\b[^.\n]{0,60}\b(?:and|to|with)\b[^.\n]{0,60}\b(?:send|post|upload|exfiltrat\w+|delete|drop|credential|token|password|secret)/i,
  ],
  [
    "hides text in invisible characters",
    /[\u{E0000}-\u{E007F}]|[\u202A-\u202E\u2066-\u2069]|[\u200B\u2060\u200C]{3,}/u,
  ],
];

// Bounds the scan; enough for any real text.
const LOOKED_AT = 2_000_000;

export function suspicionOf(text: string): string | null {
  const looked = text.slice(0, LOOKED_AT);
  const reasons = SIGNS.filter(([, sign]) => sign.test(looked)).map(([reason]) => reason);
  return reasons.length > 0 ? [...new Set(reasons)].join("; ") : null;
}

/** The same for names with joined words: `ignore_all_previous_instructions`, `IgnoreAllInstructions`. */
export const suspicionOfName = (name: string): string | null =>
  suspicionOf(name) ?? suspicionOf(name.replaceAll(/[_.\-/\\+]+/g, " ").replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " "));
