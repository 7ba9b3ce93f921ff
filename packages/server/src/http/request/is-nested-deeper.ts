const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether brackets outside of strings are nested deeper than that. Takes a fraction of the time of parsing. */
export function isNestedDeeper(json: Buffer, most: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length && depth <= most; at += 1) {
    switch (json[at]!) {
      case QUOTE:
        at = endOfString(json, at);
        break;
      case 0x5b: // [
      case 0x7b: // {
        depth += 1;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1;
    }
  }
  return depth > most;
}

/** The position of the quote that ends the string. */
function endOfString(json: Buffer, begin: number): number {
  for (let at = json.indexOf(QUOTE, begin + 1); at !== -1; at = json.indexOf(QUOTE, at + 1)) {
    let before = at - 1;
    while (json[before] === BACKSLASH) before -= 1;
    // A quote after an even number of backslashes is not escaped.
    if ((at - before) % 2 === 1) return at;
  }
  return json.length;
}
