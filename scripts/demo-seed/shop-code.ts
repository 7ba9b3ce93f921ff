/** The code of Harbour Bikes, the shop of `tandem demo context`, next to its database and documents. */
export const SHOP_CODE: Readonly<Record<string, string>> = {
  "package.json": `{ "name": "harbour-bikes", "private": true, "type": "module", "scripts": { "test": "node --test" } }\n`,
  ".gitignore": "data/\ncontext/\n",
  "src/refunds.ts": `export interface Refund {
  orderId: number;
  lineNo: number;
  cents: number;
  bookedAt: string;
}

/** The sum of an order's refunds, in cents. */
export function refundedCents(refunds: readonly Refund[], orderId: number): number {
  return refunds
    .filter((refund) => refund.orderId === orderId)
    .reduce((sum, refund) => sum + refund.cents, 0);
}
`,
  "src/monthly-report.ts": `import { refundedCents, type Refund } from "./refunds.ts";

export const netCents = (orders: readonly { id: number; cents: number }[], refunds: readonly Refund[]): number =>
  orders.reduce((sum, { id, cents }) => sum + cents - refundedCents(refunds, id), 0);
`,
  "src/shipping.ts": `import type { Basket } from "./basket.ts";

/** Orders of this value and more ship for free. */
const FREE_FROM_CENTS = 5_000;
const PARCEL_CENTS = 490;
const FREIGHT_CENTS = 3_900;

export function shippingCents(basket: Basket): number {
  if (basket.totalCents >= FREE_FROM_CENTS) return 0;
  return basket.hasBike ? FREIGHT_CENTS : PARCEL_CENTS;
}
`,
  "src/basket.ts": `export interface Basket {
  totalCents: number;
  hasBike: boolean;
}
`,
  "test/refunds.test.ts": `import assert from "node:assert/strict";
import { test } from "node:test";
import { refundedCents } from "../src/refunds.ts";

const refund = { orderId: 4711, lineNo: 1, cents: 2_490, bookedAt: "2026-11-02T09:14:00Z" };

test("adds up the refunds of one order", () => {
  const refunds = [refund, { ...refund, lineNo: 2, cents: 1_500 }, { ...refund, orderId: 4712 }];
  assert.equal(refundedCents(refunds, 4711), 3_990);
});
`,
};
