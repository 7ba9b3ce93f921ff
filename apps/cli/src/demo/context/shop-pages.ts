/** The scripted processing of a document: triage, lookups and pages. */
interface RehearsedReading {
  lane: "skip" | "light" | "full";
  reason: string;
  /** A query before writing, and the statement that it verifies. */
  check?: { sql: string; verified: string };
  pages?: readonly RehearsedPage[];
}

export interface RehearsedPage {
  key: string;
  title: string;
  summary: string;
  tags: readonly string[];
  refs: readonly string[];
  body: string;
}

const shop = (...tables: string[]): string[] => tables.map((table) => `table:shop/main.${table}`);

const ACTIVE_CUSTOMER: RehearsedPage = {
  key: "metrics/active-customer",
  title: "Active customer",
  summary: "In the monthly report: a customer with an order that was not cancelled within the last 90 days.",
  tags: ["metrics", "customers"],
  refs: shop("customers", "orders"),
  body: "An active customer has placed at least one order that was not cancelled within the last 90 days; the day of the report counts as the last one. [^docs/metrics#active-customer]",
};

/** The same page after the other document was read. */
export const ACTIVE_CUSTOMER_DISPUTED: RehearsedPage = {
  ...ACTIVE_CUSTOMER,
  body: `${ACTIVE_CUSTOMER.body}

Marketing uses the word differently: a customer who ordered within the last 12 months or subscribed to the newsletter. [^docs/newsletter-handbook#whom-we-write-to]`,
};

export const NEWSLETTER: RehearsedPage = {
  key: "newsletter",
  title: "Newsletter",
  summary: "At most twice a month, never on a Sunday.",
  tags: ["marketing"],
  refs: [],
  body: "Newsletters go out at most twice a month, and never on a Sunday. [^docs/newsletter-handbook#how-often]",
};

/** Keyed by the document's path. */
export const SHOP_READINGS: Readonly<Record<string, RehearsedReading>> = {
  "summer-party.md": { lane: "skip", reason: "An invitation: it will not matter in a month." },
  "newsletter-handbook.md": { lane: "light", reason: "Two rules that can be lifted out as they stand." },
  "refund-policy.md": {
    lane: "full",
    reason: "Rules about refunds, which the database has a table of.",
    check: {
      sql: "SELECT count(*) AS unapproved FROM refunds r JOIN order_lines l USING (order_id, line_no) WHERE l.unit_price_cents > 50000 AND r.approved_by IS NULL",
      verified: "Every refund of more than 500 euros per piece has an approver.",
    },
    pages: [
      {
        key: "refunds",
        title: "Refunds",
        summary: "What is refunded, who approves it, and when it is paid.",
        tags: ["policy", "orders"],
        refs: shop("refunds", "order_lines"),
        body: `A line of an order is refunded if it is returned within 30 days of delivery, if it has a defect, or if the parcel came more than 10 days late. Shipping is refunded only with the whole order. [^docs/refund-policy#when-we-refund]

Refunds of more than 500 euros per piece need the approval of a team lead, whose name is in \`refunds.approved_by\`. [^docs/refund-policy#approval]

A refund is paid within 14 days of the request, to the means of payment of the order. Without a date in \`refunds.paid_on\` it is still owed. [^docs/refund-policy#payment]`,
      },
    ],
  },
  "metrics.md": {
    lane: "full",
    reason: "Definitions of the report's figures.",
    check: {
      sql: "SELECT count(DISTINCT customer_id) AS active FROM orders WHERE status <> 'cancelled' AND placed_at >= date((SELECT max(placed_at) FROM orders), '-90 days')",
      verified: "The definition of an active customer can be computed: 189 on the last day there are orders of.",
    },
    pages: [
      ACTIVE_CUSTOMER,
      {
        key: "metrics/revenue",
        title: "Revenue",
        summary: "Lines of orders that are not cancelled, less paid refunds, in the month of the order.",
        tags: ["metrics", "finance"],
        refs: shop("orders", "order_lines", "refunds"),
        body: "Revenue is the sum of quantity times unit price over the lines of all orders that are not cancelled, less refunds that have been paid, in the month in which the order was placed. Payments that have not been captured count all the same. [^docs/metrics#revenue]",
      },
      {
        key: "metrics/delivery-time",
        title: "Delivery time",
        summary: "From the order to the delivery; shop orders have none.",
        tags: ["metrics"],
        refs: shop("orders", "shipments"),
        body: "Delivery time is counted from the order to the delivery, not from the shipment. Orders of the shop channel have none. [^docs/metrics#delivery-time]",
      },
    ],
  },
  "data-dictionary.md": {
    lane: "full",
    reason: "It says what codes and columns of the database mean.",
    check: {
      sql: "SELECT status, channel, count(*) AS orders, count(ship_to) AS with_address FROM orders GROUP BY status, channel",
      verified: "There are the three statuses and two channels, and shop orders have no address.",
    },
    pages: [
      {
        key: "orders",
        title: "Orders",
        summary: "What the status and the channel of an order mean, and which price its lines have.",
        tags: ["data", "orders"],
        refs: shop("orders", "order_lines", "products"),
        body: `| status | meaning |
| --- | --- |
| \`open\` | placed, not sent yet |
| \`delivered\` | with the customer |
| \`cancelled\` | taken back before it was sent; without payment and shipment [^docs/data-dictionary#status-of-an-order] |

Orders of the channel \`web\` are sent to an address; those of \`shop\` are handed over by a member of staff, and have neither address nor shipment. [^docs/data-dictionary#channels]

The price on a line is that of the day, discounts included. It does not follow the list price of the product. All amounts are euro cents with value added tax. [^docs/data-dictionary#prices-on-order-lines] [^docs/data-dictionary#money]`,
      },
    ],
  },
  "how-to-monthly-revenue.md": {
    lane: "full",
    reason: "A query on the database, with a trap.",
    check: {
      sql: "SELECT (SELECT sum(l.quantity * l.unit_price_cents) FROM orders o JOIN order_lines l ON l.order_id = o.id WHERE o.status <> 'cancelled') AS of_lines, (SELECT sum(amount_cents) FROM payments) AS of_payments",
      verified: "Sums of lines and of payments are equal to the cent.",
    },
    pages: [
      {
        key: "how-to/monthly-revenue",
        title: "How to compute the revenue of a month",
        summary: "Sum lines and refunds apart, and compare with the payments.",
        tags: ["how-to", "finance"],
        refs: shop("orders", "order_lines", "refunds", "payments"),
        body: `Sum the lines first and the refunds on their own: joined to orders in one go, they multiply the lines of every order that has more than one refund. [^docs/how-to-monthly-revenue#query]

\`\`\`sql
SELECT sum(l.quantity * l.unit_price_cents) / 100.0 AS euros
FROM orders o
JOIN order_lines l ON l.order_id = o.id
WHERE o.status <> 'cancelled' AND o.placed_at >= '2025-06-01' AND o.placed_at < '2025-07-01';
\`\`\`

Before refunds, the result equals the sum of the payments of the same orders. [^docs/how-to-monthly-revenue#checks]`,
      },
    ],
  },
};
