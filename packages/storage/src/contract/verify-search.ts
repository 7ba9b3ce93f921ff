import { expect } from "vitest";
import { openStore } from "../open-store.ts";
import type { SearchQuery } from "../search-index.ts";
import { doc, keysFound, newSpace } from "./search-samples.ts";
import { numbers, type Stage, type Behaviours } from "./storage-stage.ts";

/** Creates a space with one document per text, keyed by the text's name. */
async function spaceWith(stage: Stage, texts: Record<string, string>): Promise<(text: string) => Promise<string[]>> {
  const space = newSpace();
  await stage.store.search.put(
    space,
    Object.entries(texts).map(([key, text]) => doc(key, { title: "Untitled", text })),
  );
  return (text) => keysFound(stage, space, text);
}

/** Expects these keys for each query, in any order. */
async function expectAll(
  found: (text: string) => Promise<string[]>,
  expected: Record<string, string[]>,
): Promise<void> {
  const actual: Record<string, string[]> = {};
  for (const query of Object.keys(expected)) actual[query] = (await found(query)).toSorted();
  expect(actual).toEqual(expected);
}

export const verifySearch: Behaviours = {
  "Words in every script are found, with and without diacritics": async (stage) => {
    const found = await spaceWith(stage, {
      german: "Die Übersicht über Größe und Straße der Müller GmbH",
      french: "L’élève a déjà reçu la facture",
      danish: "Ørsted bygger på Læsø",
      polish: "Łódź i żółw",
      turkish: "İstanbul'da ışık",
      russian: "Заказы клиентов и ёлка",
      greek: "Ο πελάτης και η Ελλάς",
      arabic: "جدول العملاء و مُحَمَّد",
      hebrew: "שָׁלוֹם לכולם",
      hindi: "ग्राहक के आदेश और हिंदी",
      vietnamese: "Khách hàng và đơn hàng",
      wide: "ＩＮＶＯＩＣＥ number",
    });
    await expectAll(found, {
      Übersicht: ["german"],
      ubersicht: ["german"],
      UEBERSICHT: ["german"],
      "u\u0308bersicht": ["german"],
      groesse: ["german"],
      strasse: ["german"],
      mueller: ["german"],
      eleve: ["french"],
      ÉLÈVE: ["french"],
      recu: ["french"],
      orsted: ["danish"],
      Oersted: ["danish"],
      lodz: ["polish"],
      istanbul: ["turkish"],
      isik: ["turkish"],
      заказы: ["russian"],
      ЕЛКА: ["russian"],
      πελατης: ["greek"],
      ΕΛΛΆΣ: ["greek"],
      العملاء: ["arabic"],
      عملاء: ["arabic"],
      محمد: ["arabic"],
      שלום: ["hebrew"],
      ग्राहक: ["hindi"],
      हिंदी: ["hindi"],
      "don hang": ["vietnamese"],
      invoice: ["wide"],
      ﬁ: [],
    });
  },

  "Parts of phrases are found in scripts without spaces": async (stage) => {
    const found = await spaceWith(stage, {
      chinese: "我们的客户订单管理系统",
      japanese: "東京都庁の顧客データベースはここです。",
      katakana: "データベース設計",
      thai: "ลูกค้าสั่งซื้อสินค้าในกรุงเทพมหานคร",
      korean: "고객이 주문한 상품 목록",
      khmer: "អតិថិជនបញ្ជាទិញ",
      mixed: "iPhone15を買う顧客",
    });
    await expectAll(found, {
      订单: ["chinese"],
      客户订单: ["chinese"],
      单: ["chinese"],
      東京都庁: ["japanese"],
      都庁: ["japanese"],
      データベース: ["japanese", "katakana"],
      顧客: ["japanese", "mixed"],
      庁: ["japanese"],
      す: ["japanese"],
      สินค้า: ["thai"],
      กรุงเทพ: ["thai"],
      고객: ["korean"],
      주문: ["korean"],
      អតិថិជន: ["khmer"],
      iphone15: ["mixed"],
      猫: [],
    });
    // All character pairs rank before some of them.
    expect(await found("顧客データベース")).toEqual(["japanese", "katakana", "mixed"]);
  },

  "Identifiers are found by their parts, in any case style": async (stage) => {
    const found = await spaceWith(stage, {
      camel: "CustomerId",
      snake: "customer_id",
      upper: "CUSTOMERID",
      kebab: "customer-id",
      numbered: "address2line HTTPServer v2",
      dotted: "public.order_items sales/2024-Q3",
      uuid: "550e8400-e29b-41d4-a716-446655440000",
      prose: "the customer has an id",
    });
    const five = ["camel", "kebab", "prose", "snake", "upper"];
    await expectAll(found, {
      customer: five,
      Customer_Id: five,
      customerID: five,
      id: ["camel", "kebab", "prose", "snake"],
      address: ["numbered"],
      "address 2": ["numbered"],
      http: ["numbered"],
      server: ["numbered"],
      "order items": ["dotted"],
      orderItem: ["dotted"],
      "public.order_items": ["dotted"],
      "550e8400-e29b-41d4-a716-446655440000": ["uuid"],
      "550e8400": ["uuid"],
      none_such: [],
      // A partial match is better than none.
      customer_name: ["camel", "kebab", "prose", "snake"],
    });
  },

  "The last word matches as a prefix; plurals and singulars match each other": async (stage) => {
    const found = await spaceWith(stage, {
      invoices: "All invoices of companies",
      invoice: "One invoice of a company",
      addresses: "Addresses, boxes and statuses",
      status: "The status of an analysis",
    });
    await expectAll(found, {
      inv: ["invoice", "invoices"],
      "company inv": ["invoice", "invoices"],
      invoice: ["invoice", "invoices"],
      invoices: ["invoice", "invoices"],
      company: ["invoice", "invoices"],
      companies: ["invoice", "invoices"],
      compani: ["invoices"],
      address: ["addresses"],
      box: ["addresses"],
      status: ["addresses", "status"],
      // Only the last word matches as a prefix.
      "comp of analysis": ["status"],
      // Words such as `of` count only if there are no others.
      of: ["invoice", "invoices", "status"],
    });
    expect((await found("invoices"))[0]).toBe("invoices");
  },

  "Any text is a valid query, and none is parsed as an expression": async (stage) => {
    const found = await spaceWith(stage, { one: "What is near and not an order, or a title: customers" });
    const none = [
      "",
      " ",
      '"',
      "''",
      "*",
      "-",
      ":*",
      "()",
      "&|!",
      "\\",
      "%",
      "_",
      "\u0000",
      "🙂",
      "\ud800",
      "«»",
      "^^",
    ];
    for (const text of none) expect([text, await found(text)]).toEqual([text, []]);
    const some = [
      'customers"',
      '"customers',
      "customers*",
      "-customers",
      "title:customers",
      "customers AND",
      "NOT customers",
      "NEAR(customers order)",
      "(customers",
      "customers)) OR ((",
      "customers & ! |",
      "customers:*A",
      "'customers'",
      "customers\\",
      "customers <-> order",
      "customers; drop table search_document",
      "customers\u0000",
      "🙂 customers 🙂",
      "{title} : customers ^ + ,",
      "¦customers§¤",
      `customers ${"word ".repeat(2_000)}`,
      `${"\\'\"(&*".repeat(500)} customers`,
    ];
    for (const text of some) expect([text, await found(text)]).toEqual([text, ["one"]]);
    for (const text of ["x".repeat(10_000), "äöü ".repeat(2_500), "東".repeat(10_000)])
      expect(await found(text)).toEqual([]);
    const space = newSpace();
    expect(await keysFound(stage, space, "anything")).toEqual([]);
    const limits: SearchQuery["limit"][] = [0, -1];
    for (const limit of limits) expect(await stage.store.search.search(space, { text: "x", limit })).toEqual([]);
  },

  "Exact names rank first, then all words, then some; titles and rare words weigh more": async (stage) => {
    const space = newSpace();
    const filler = "This page says something about many other things as well. ".repeat(20);
    await stage.store.search.put(space, [
      doc("page:long", { title: "Other", text: `${filler} orders ${filler}` }),
      doc("page:dense", { title: "Other", text: "orders, and again orders" }),
      doc("page:title", { title: "Orders and refunds", text: filler }),
      doc("table:shop/public.orders", { title: "orders", text: filler }),
      doc("page:all", { title: "Other", text: `${filler} refund policy for vouchers` }),
      doc("page:some", { title: "Other", text: "refund refund refund refund policy policy policy" }),
      doc("page:rare", { title: "Other", text: "something about a chargeback" }),
    ]);
    const found = (text: string): Promise<string[]> => keysFound(stage, space, text);
    const orders = await found("orders");
    expect(orders.slice(0, 2)).toEqual(["table:shop/public.orders", "page:title"]);
    expect(orders.indexOf("page:dense")).toBeLessThan(orders.indexOf("page:long"));
    for (const name of ["public.orders", "shop/public.orders", "TABLE:SHOP/PUBLIC.ORDERS"])
      expect((await found(name))[0]).toBe("table:shop/public.orders");
    expect((await found("Orders & Refunds")).slice(0, 1)).toEqual(["page:title"]);
    // "Refunds" is a plural: not an exact title, but a match.
    const all = await found("refund policy vouchers");
    expect(all.slice(0, 2)).toEqual(["page:all", "page:some"]);
    // A rare word weighs more than a common one.
    expect((await found("something unheard chargeback"))[0]).toBe("page:rare");
    const scores = (await stage.store.search.search(space, { text: "orders", limit: 10 })).map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(await stage.store.search.search(space, { text: "orders", limit: 2 })).toHaveLength(2);
  },

  "With common words in many documents, titles rank first and rare words decide": async ({ fixture }) => {
    // In its own database: later behaviours read the whole one.
    await using store = await openStore(await fixture.location());
    const space = newSpace();
    // More documents than the limit for a discriminating word.
    const made = numbers(10_400).map((number) =>
      doc(`page:${number}`, {
        kind: number % 100 === 0 ? "table" : "page",
        title: `Page ${number}`,
        text: `common plain word${number % 3_600} number${number}`,
        filters: { half: number % 20 === 0 ? "other" : "one" },
      }),
    );
    made.push(doc("page:titled", { title: "What is common and plain", text: "nothing else" }));
    await store.search.put(space, made);
    const found = (text: string): Promise<string[]> => keysFound({ store }, space, text, 5);
    expect((await found("common"))[0]).toBe("page:titled");
    expect((await found("plain common"))[0]).toBe("page:titled");
    expect((await found("common plain missing number77"))[0]).toBe("page:77");
    expect(await found("missing common")).toHaveLength(5);
    expect(await found("common plain page")).toHaveLength(5);
    expect((await found("word5 common")).slice(0, 3).toSorted()).toEqual(["page:3605", "page:5", "page:7205"]);
    expect(await found("number10400")).toEqual(["page:10400"]);
    const kept = async (query: Omit<SearchQuery, "limit">): Promise<string[]> =>
      (await store.search.search(space, { limit: 3, ...query })).map(({ key }) => key).toSorted();
    expect(await kept({ text: "word20 common", kinds: ["page"] })).toEqual(["page:20", "page:3620", "page:7220"]);
    expect(await kept({ text: "word100 common", kinds: ["page"] })).toEqual([]);
    const tables = await kept({ text: "word100 common", kinds: ["page", "table"] });
    expect(tables).toEqual(["page:100", "page:3700", "page:7300"]);
    expect(await kept({ text: "word7 common", kinds: ["page"], filters: { half: "other" } })).toEqual([]);
    expect(await kept({ text: "common number100", kinds: ["page"] })).not.toContain("page:100");
    expect(await kept({ text: "common", kinds: ["table"], filters: { half: "one" } })).toEqual([]);
    expect(await kept({ text: "common", kinds: ["table"] })).toHaveLength(3);
  },

  "A snippet is the best passage in its original spelling, with matches in « »": async (stage) => {
    const space = newSpace();
    const filler = "Nothing of interest is said here at all. ".repeat(40);
    const long = `${filler}The Ürsprung of\n\n a CustomerId is the CRM. ${filler}Later a customer comes again. ${filler}`;
    await stage.store.search.put(space, [
      doc("long", { title: "Long", text: long }),
      doc("short", { title: "Kurz", text: "私は東京都庁で働いています。" }),
      doc("empty", { title: "Only a title of vouchers", text: "" }),
      doc("title", { title: "Vouchers elsewhere", text: `Begins like this. ${filler}` }),
      doc("emoji", { title: "Emoji", text: `${"🙂".repeat(400)} zebra ${"🙃".repeat(400)}` }),
    ]);
    const snippet = async (text: string, key: string): Promise<string> => {
      const hits = await stage.store.search.search(space, { text, limit: 10 });
      return hits.find((hit) => hit.key === key)!.snippet;
    };
    const best = await snippet("ursprung cust", "long");
    expect(best).toContain("The «Ürsprung» of a «CustomerId» is the CRM.");
    expect(best).toMatch(/^… \S.*\S …$/s);
    expect(best.length).toBeLessThan(300);
    expect(await snippet("東京都庁", "short")).toBe("私は«東京都庁»で働いています。");
    expect(await snippet("都", "short")).toContain("«");
    expect(await snippet("vouchers", "empty")).toBe("Only a title of «vouchers»");
    expect(await snippet("vouchers", "title")).toMatch(/^Begins like this\. Nothing .* …$/);
    const emoji = await snippet("zebra", "emoji");
    expect(emoji).toContain("«zebra»");
    expect(emoji.isWellFormed()).toBe(true);
  },

  "Putting a document again replaces it; a removed one is no longer found": async (stage) => {
    const space = newSpace();
    const { search } = stage.store;
    await search.put(space, [doc("a", { text: "former words" }), doc("b", { text: "other words" })]);
    await stage.other.search.put(space, [doc("a", { title: "Newer", kind: "page", text: "later things", hash: "2" })]);
    expect(await keysFound(stage, space, "former")).toEqual([]);
    expect(await search.search(space, { text: "later", limit: 5 })).toMatchObject([
      { key: "a", kind: "page", title: "Newer", snippet: "«later» things", by: ["words"] },
    ]);
    // The last document of a duplicate key wins, also in a batch.
    await search.put(space, [doc("c", { text: "first" }), doc("c", { text: "second" })]);
    expect(await keysFound(stage, space, "first second")).toEqual(["c"]);
    expect(await keysFound(stage, space, "first")).toEqual([]);
    await stage.other.search.remove(space, ["a", "none"]);
    await search.remove(space, []);
    expect(await keysFound(stage, space, "later")).toEqual([]);
    expect(await keysFound(stage, space, "words")).toEqual(["b"]);
    await search.remove(newSpace(), ["a"]);
    await search.put(space, []);
    expect([...(await search.hashes(space)).keys()]).toEqual(["b", "c"]);
    const many = numbers(300).map((number) => doc(`many${number}`, { text: `plenty ${"words ".repeat(number % 50)}` }));
    await Promise.all([search.put(space, many), stage.other.search.put(space, many)]);
    expect((await search.hashes(space)).size).toBe(302);
    expect(await keysFound(stage, space, "plenty", 1_000)).toHaveLength(300);
    await search.remove(
      space,
      many.map(({ key }) => key),
    );
    expect(await keysFound(stage, space, "plenty", 1_000)).toEqual([]);
  },

  "Hashes of all documents are listed by kind, in any number": async (stage) => {
    const space = newSpace();
    const { search } = stage.store;
    expect(await search.hashes(space)).toEqual(new Map());
    const made = numbers(40).map((number) =>
      doc(`${number}`, { kind: number % 2 ? "odd" : "even", hash: `h${number}` }),
    );
    await search.put(space, made);
    await search.put(space, [{ ...made[0]!, vector: Float32Array.of(1, 0), vectorModel: "m" }]);
    const hashes = await stage.other.search.hashes(space);
    expect(hashes.size).toBe(40);
    expect(hashes.get("1")).toEqual({ hash: "h1", vectorModel: "m" });
    expect(hashes.get("2")).toEqual({ hash: "h2", vectorModel: null });
    expect([...(await search.hashes(space, "even")).keys()].every((key) => Number(key) % 2 === 0)).toBe(true);
    expect((await search.hashes(space, "even")).size).toBe(20);
    expect((await search.hashes(space, "none")).size).toBe(0);
  },
};
