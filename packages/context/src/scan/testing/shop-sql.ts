/** A small shop whose joins are partly declared, partly in names and partly in data alone. */
export const SHOP_SQL = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, mail TEXT);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, clerk INTEGER, total REAL);
  CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE lines (order_id INTEGER REFERENCES orders(id), position INTEGER, price REAL, PRIMARY KEY (order_id, position));
  INSERT INTO customers SELECT value, 'customer ' || value, value || '@example.com' FROM generate_series(1, 40);
  INSERT INTO staff SELECT value, 'clerk ' || value FROM generate_series(1, 12);
  INSERT INTO orders SELECT value, 1 + value % 40, 1 + value % 12, value * 1.5 FROM generate_series(1, 200);
  INSERT INTO lines SELECT 1 + value % 200, value, value * 0.5 FROM generate_series(1, 400);
`.replaceAll(
  /FROM generate_series\(1, (\d+)\)/g,
  "FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < $1) SELECT value FROM n)",
);
