import { expect, test } from "vitest";
import { visitWords } from "./search-words.ts";

/** The forms of each word; parts after `+`, single letters after `.`. */
function read(text: string): string[] {
  const words: string[] = [];
  visitWords(text.normalize("NFC"), ({ forms, parts, letters }) => {
    words.push(
      [...forms, ...parts.map((part) => `+${part.join("/")}`), ...letters.map((letter) => `.${letter}`)].join(" "),
    );
  });
  return words;
}

test.each([
  ["Größe, STRASSE & co.", ["grosse groesse", "strasse", "co"]],
  [
    "CustomerID2 order_line-items",
    ["customerid2 +customer +id +2", "orderlineitems orderlineitem +order +line +items/item"],
  ],
  ["companies boxes status addresses", ["companies company", "boxes boxe box", "status", "addresses addresse address"]],
  ["東京都 猫 iPad用", ["東京 .東", "京都 .京 .都", "猫 .猫", "ipad +i +pad", "用 .用"]],
  ["क्‍ष हिंदी", ["क्ष", "हिंदी"]],
  ["co\u00adoperate l’eau", ["cooperate", "l", "eau"]],
  ["⑴ ﬁne ＡＢＣ", ["1", "fine", "abc"]],
  ["🙂 -- \u0301 _ '\" ", []],
])("%s", (text, expected) => {
  expect(read(text)).toEqual(expected);
});

test("reports word positions, and stops when the visitor returns false", () => {
  const text = "One 東京都 CustomerId.";
  const places: string[] = [];
  visitWords(text, ({ from, to }, at) => {
    places.push(text.slice(at + from, at + to));
    return places.length < 4;
  });
  expect(places).toEqual(["One", "東京", "京都", "CustomerId"]);
  let count = 0;
  visitWords(text, () => (count += 1) < 2);
  expect(count).toBe(2);
});

test("takes linear time for long and adversarial text", () => {
  const took = (text: string): number => {
    const begun = performance.now();
    visitWords(text, () => {});
    return performance.now() - begun;
  };
  for (const piece of ["a-", "_", "aB", "a1", "\u0301", "ก", "-a_"]) {
    took(piece.repeat(10_000));
    expect([piece, took(piece.repeat(200_000)) < 10_000]).toEqual([piece, true]);
  }
});
