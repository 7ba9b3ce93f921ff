import { isDeepStrictEqual } from "node:util";
import { ordersIn } from "../order-text.ts";
import type { Invariant } from "./invariant.ts";

export const messageOnce: Invariant = {
  name: "message-once",
  promise: "A message is in the log once, in the order of sending, also if the client had to repeat the request.",
  check: ({ orders, reads }) =>
    [...new Set(orders.map(({ session }) => session))].flatMap((session) => {
      const last = reads.findLast((read) => read.session === session);
      const logged = (last?.events ?? [])
        .filter(({ type }) => type === "user.message")
        .flatMap(({ json }) => ordersIn(json).map(({ key }) => key));
      const sent = orders.filter((order) => order.session === session);
      const wrong = sent.flatMap(({ key, isAcknowledged }) => {
        const count = logged.filter((one) => one === key).length;
        if (count === 1 || (count === 0 && !isAcknowledged)) return [];
        return [{ session, message: `The message ${key} is in the log ${count} times.` }];
      });
      const expected = sent.map(({ key }) => key).filter((key) => logged.includes(key));
      const isOrdered = wrong.length > 0 || isDeepStrictEqual(expected, logged);
      return isOrdered ? wrong : [{ session, message: `Messages are in another order: ${logged.join(", ")}.` }];
    }),
};
