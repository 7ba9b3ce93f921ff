/** Two orders of each customer have one to three lines, so that joining lines repeats orders. */
export const SHOP_SQL = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id), amount REAL NOT NULL, status TEXT NOT NULL);
CREATE TABLE lines (order_id INTEGER NOT NULL REFERENCES orders (id), no INTEGER NOT NULL, pieces INTEGER NOT NULL, PRIMARY KEY (order_id, no));
INSERT INTO customers VALUES (1, 'Ada', 'DE'), (2, 'Bo', 'SE'), (3, 'Cy', 'DE'), (4, 'Di', 'PT');
INSERT INTO orders VALUES (10, 1, 20, 'paid'), (11, 1, 30, 'paid'), (12, 2, 7.5, 'paid'), (13, 2, 12.5, 'paid'),
  (14, 3, 40, 'paid'), (15, 3, 1.25, 'paid'), (16, 4, 100, 'paid'), (17, 4, 2, 'paid');
INSERT INTO lines VALUES (10, 1, 1), (10, 2, 2), (11, 1, 1), (12, 1, 4), (12, 2, 1), (12, 3, 1), (13, 1, 1),
  (14, 1, 2), (14, 2, 2), (15, 1, 1), (16, 1, 5), (16, 2, 1), (17, 1, 1);
`;

export const GOLD = {
  total: "SELECT sum(amount) AS total FROM orders",
  "by-country":
    "SELECT c.country, sum(o.amount) AS total FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.country",
  ranking:
    "SELECT c.name, sum(o.amount) AS total FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY c.name ORDER BY total DESC, c.name",
  average: "SELECT avg(amount) AS average FROM orders",
  paid: "SELECT sum(amount) AS total FROM orders WHERE status = 'paid'",
} as const;

export const EVALS = `connection: shop
asOf: 2026-06-30
trials: 3
pass: { all: 0.9, wrongButConfident: 0 }
perturb:
  - { table: orders, every: 3, change: remove }
  - { table: orders, every: 4, change: { status: cancelled } }
questions:
  - id: total
    ask: What did all orders bring in?
    tags: [fan-out]
    expect: { sql: "${GOLD.total}" }
    finds: [table:shop/main.orders]
    verdict: proven
  - id: by-country
    ask: Sales by country of the customer?
    tags: [fan-out, joins]
    expect: { sql: "${GOLD["by-country"]}" }
    values: [{ value: de, column: main.customers.country }]
    joins: [[lines, orders, customers]]
  - id: ranking
    ask: Customers by sales, the best first?
    tags: [order]
    expect: { sql: "${GOLD.ranking}" }
    compare: { ordered: true }
  - id: average
    ask: What is the average order?
    tags: [rounding]
    expect: { sql: "${GOLD.average}" }
    compare: { tolerance: 0.005 }
  - id: paid
    ask: How much of it is paid?
    tags: [filter]
    expect: { sql: "${GOLD.paid}" }
  - id: footprint
    ask: What is our CO2 footprint?
    tags: [no-answer]
    expect: abstain
  - id: best
    ask: Who is our best customer?
    tags: [ambiguous]
    expect: clarify
`;
