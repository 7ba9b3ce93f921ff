/** Scripted descriptions of the shop's tables: the table first, then its columns. */
export const SHOP_DESCRIPTIONS: Readonly<Record<string, readonly [string, Readonly<Record<string, string>>]>> = {
  staff: [
    "One person who works or has worked in the shop, with team and superior.",
    {
      staff_no: "Number of the person; never given twice.",
      name: "First and last name.",
      team: "Team: management, workshop, support or shop floor.",
      reports_to: "The person's superior; empty for the head of the shop.",
      left_on: "Last day of work; empty while employed.",
    },
  ],
  customers: [
    "One person who has an account, whether or not anything was ever ordered.",
    {
      id: "Number of the customer.",
      full_name: "First and last name.",
      email: "Address for messages and for logging in; unique.",
      country: "Country of residence, as an ISO code of two letters.",
      newsletter: "1 if subscribed to the newsletter, otherwise 0.",
      signed_up_on: "Day on which the account was opened.",
      referred_by: "Customer who recommended the shop; mostly empty.",
    },
  ],
  addresses: [
    "One postal address of a customer; a customer may have several.",
    {
      id: "Number of the address.",
      owner: "Customer whose address it is.",
      street: "Street and house number.",
      postcode: "Postal code, as text with leading zeros.",
      city: "Town.",
    },
  ],
  categories: [
    "One group of products; groups may be part of a larger one.",
    {
      code: "Short code, which article numbers begin with.",
      title: "Name as it is shown to customers.",
      parent: "The larger group that it is part of; empty at the top.",
    },
  ],
  products: [
    "One article that is or was sold, with today's list price.",
    {
      sku: "Article number: category and three digits.",
      title: "Name as it is shown to customers.",
      category: "Group that it belongs to.",
      price_cents: "Today's list price in euro cents.",
      discontinued_on: "Day from which it is not sold any more; empty while it is.",
    },
  ],
  orders: [
    "One order of a customer, through the web site or in the shop.",
    {
      id: "Number of the order.",
      customer_id: "Customer who ordered.",
      placed_at: "Time of the order.",
      status: "open, delivered or cancelled.",
      channel: "web if it is sent, shop if it is handed over.",
      ship_to: "Address that a web order is sent to; empty for shop orders.",
      handled_by: "Member of staff who handed a shop order over; empty for web orders.",
    },
  ],
  order_lines: [
    "One article within an order, with quantity and price of the day.",
    {
      order_id: "Order that the line is part of.",
      line_no: "Number of the line within its order, from 1.",
      sku: "Article that was ordered.",
      quantity: "Pieces.",
      unit_price_cents: "Price of one piece on the day of the order, in euro cents, discounts included.",
    },
  ],
  payments: [
    "One payment for an order that was not cancelled.",
    {
      id: "Number of the payment.",
      order_ref: "Order that is paid for.",
      method: "Means of payment: card, paypal or invoice.",
      amount_cents: "Amount in euro cents.",
      captured_at: "Time at which the money came in; empty until then.",
    },
  ],
  shipments: [
    "One parcel with a web order, and when it was sent and delivered.",
    {
      id: "Number of the parcel.",
      order_id: "Order that was sent.",
      carrier: "Who carries it: Post, Kurier Nord or the shop's own van.",
      shipped_at: "Time at which it left.",
      delivered_at: "Time of delivery; empty while it is on its way.",
    },
  ],
  refunds: [
    "One refund of a line of an order, requested and perhaps paid.",
    {
      id: "Number of the refund.",
      order_id: "Order, together with line_no.",
      line_no: "Line of that order that is refunded.",
      reason: "Why: defect, late or returned.",
      amount_cents: "Amount in euro cents.",
      approved_by: "Team lead who approved it; empty where none was needed.",
      requested_on: "Day of the request.",
      paid_on: "Day of the payment; empty while it is owed.",
    },
  ],
};

/** Joins without foreign keys or matching names. The model suggests them; the scan checks them against the rows. */
export const SHOP_JOINS = [
  { from: ["orders", "ship_to"], to: ["addresses", "id"], why: "Goods are shipped to an address." },
  { from: ["customers", "referred_by"], to: ["customers", "id"], why: "Customers are referred by other customers." },
] as const;
