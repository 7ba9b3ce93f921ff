-- The database of Harbour Bikes, a shop that does not exist. Some of its foreign keys are declared, most are not, and some
-- columns are named after what the other row is to this one. The same statements always make the same rows.

CREATE TABLE staff (
  staff_no INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  team TEXT NOT NULL,
  reports_to INTEGER,
  left_on TEXT
);
CREATE TABLE customers (
  id INTEGER PRIMARY KEY,
  full_name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  country TEXT NOT NULL,
  newsletter INTEGER NOT NULL,
  signed_up_on TEXT NOT NULL,
  referred_by INTEGER
);
CREATE TABLE addresses (
  id INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL,
  street TEXT NOT NULL,
  postcode TEXT NOT NULL,
  city TEXT NOT NULL
);
CREATE TABLE categories (
  code TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  parent TEXT
);
CREATE TABLE products (
  sku TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  category TEXT NOT NULL,
  price_cents INTEGER NOT NULL,
  discontinued_on TEXT
);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (id),
  placed_at TEXT NOT NULL,
  status TEXT NOT NULL,
  channel TEXT NOT NULL,
  ship_to INTEGER,
  handled_by INTEGER
);
CREATE TABLE order_lines (
  order_id INTEGER NOT NULL REFERENCES orders (id),
  line_no INTEGER NOT NULL,
  sku TEXT NOT NULL,
  quantity INTEGER NOT NULL,
  unit_price_cents INTEGER NOT NULL,
  PRIMARY KEY (order_id, line_no)
);
CREATE TABLE payments (
  id INTEGER PRIMARY KEY,
  order_ref INTEGER NOT NULL,
  method TEXT NOT NULL,
  amount_cents INTEGER NOT NULL,
  captured_at TEXT
);
CREATE TABLE shipments (
  id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES orders (id),
  carrier TEXT NOT NULL,
  shipped_at TEXT NOT NULL,
  delivered_at TEXT
);
CREATE TABLE refunds (
  id INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL,
  line_no INTEGER NOT NULL,
  reason TEXT NOT NULL,
  amount_cents INTEGER NOT NULL,
  approved_by INTEGER,
  requested_on TEXT NOT NULL,
  paid_on TEXT
);

-- Numbers of one to nine hundred, from which all rows are counted out.
CREATE TEMP TABLE n AS
WITH RECURSIVE up (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM up WHERE i < 900) SELECT i FROM up;
CREATE TEMP TABLE word (n INTEGER, first TEXT, last TEXT, city TEXT, street TEXT);
INSERT INTO word VALUES
  (0, 'Ada', 'Brandt', 'Hamburg', 'Hafenstraße'), (1, 'Bruno', 'Costa', 'Porto', 'Rua do Cais'),
  (2, 'Chloé', 'Dubois', 'Nantes', 'Quai de la Fosse'), (3, 'Dilara', 'Yılmaz', 'Bremen', 'Am Wall'),
  (4, 'Emil', 'Sørensen', 'Aarhus', 'Havnegade'), (5, 'Freya', 'Lind', 'Göteborg', 'Kajgatan'),
  (6, 'Gus', 'de Vries', 'Rotterdam', 'Maaskade'), (7, 'Hana', 'Nováková', 'Ústí', 'Přístavní'),
  (8, 'Ivo', 'Marić', 'Rijeka', 'Riva'), (9, 'Jun', 'Okafor', 'Cork', 'Quay Street'),
  (10, 'Kaya', 'Rossi', 'Genova', 'Via del Molo'), (11, 'Leo', 'Petit', 'Brest', 'Rue de Siam'),
  (12, 'Mona', 'Keller', 'Kiel', 'Am Kai');
CREATE TEMP TABLE place (n INTEGER, country TEXT);
INSERT INTO place VALUES (0, 'DE'), (1, 'PT'), (2, 'FR'), (3, 'DE'), (4, 'DK'), (5, 'SE'), (6, 'NL');

INSERT INTO staff
SELECT 100 + i, a.first || ' ' || b.last,
  CASE WHEN i = 1 THEN 'management' WHEN i % 3 = 0 THEN 'workshop' WHEN i % 3 = 1 THEN 'support' ELSE 'shop floor' END,
  CASE WHEN i = 1 THEN NULL WHEN i <= 4 THEN 101 ELSE 102 + i % 3 END,
  CASE WHEN i = 9 THEN '2025-03-31' END
FROM n JOIN word a ON a.n = (n.i * 5) % 13 JOIN word b ON b.n = (n.i * 7 + 3) % 13 WHERE n.i <= 14;

INSERT INTO customers
SELECT 10000 + n.i, a.first || ' ' || b.last, lower(replace(a.first, 'é', 'e')) || '.' || n.i || '@example.com',
  place.country, (n.i * 11) % 10 < 4, date('2022-01-03', '+' || (n.i * 4) || ' days'),
  CASE WHEN n.i > 20 AND n.i % 4 = 0 THEN 10000 + (n.i * 13) % 20 + 1 END
FROM n JOIN word a ON a.n = (n.i * 3) % 13 JOIN word b ON b.n = (n.i * 8 + n.i / 13) % 13
  JOIN place ON place.n = (n.i * 5) % 7
WHERE n.i <= 240;

INSERT INTO addresses
SELECT 70000 + n.i, 10000 + CASE WHEN n.i <= 240 THEN n.i ELSE (n.i * 7) % 240 + 1 END,
  word.street || ' ' || ((n.i * 17) % 90 + 1), printf('%05d', (n.i * 3571) % 89999 + 10000), word.city
FROM n JOIN word ON word.n = (n.i * 6) % 13 WHERE n.i <= 270;

INSERT INTO categories VALUES
  ('BIKE', 'Bicycles', NULL), ('CITY', 'City bikes', 'BIKE'), ('CARGO', 'Cargo bikes', 'BIKE'),
  ('GEAR', 'Accessories', NULL), ('LIGHT', 'Lights', 'GEAR'), ('LOCK', 'Locks', 'GEAR'),
  ('HELM', 'Helmets', 'GEAR'), ('PART', 'Spare parts', NULL);

INSERT INTO products
SELECT c.code || '-' || printf('%03d', n.i), c.title || ' no. ' || n.i, c.code,
  CASE c.parent WHEN 'BIKE' THEN 89900 + n.i * 5000 ELSE 990 + (n.i * 377) % 9000 END,
  CASE WHEN n.i % 9 = 0 THEN '2025-02-28' END
FROM n JOIN categories c ON c.rowid = n.i % 6 + CASE WHEN n.i % 6 = 0 THEN 2 WHEN n.i % 6 < 3 THEN 1 ELSE 2 END
WHERE n.i <= 48;

INSERT INTO orders
SELECT 500000 + n.i, 10000 + (n.i * 37) % 211 + 1, datetime('2024-07-01 09:00', '+' || (n.i * 11) || ' hours'),
  CASE WHEN n.i > 880 THEN 'open' WHEN n.i % 17 = 0 THEN 'cancelled' ELSE 'delivered' END,
  CASE WHEN n.i % 5 = 0 THEN 'shop' ELSE 'web' END,
  CASE WHEN n.i % 5 <> 0 THEN 70000 + (n.i * 37) % 211 + 1 END,
  CASE WHEN n.i % 5 = 0 THEN 100 + (n.i / 5) % 14 + 1 END
FROM n WHERE n.i <= 900;

INSERT INTO order_lines
SELECT o.id, l.i, p.sku, (o.id + l.i) % 3 + 1, p.price_cents - CASE WHEN o.id % 10 = 0 THEN p.price_cents / 10 ELSE 0 END
FROM orders o JOIN n l ON l.i <= o.id % 3 + 1
  JOIN (SELECT row_number() OVER (ORDER BY sku) - 1 AS at, sku, price_cents FROM products) p
    ON p.at = (o.id * 5 + l.i * 11) % 48;

INSERT INTO payments
SELECT 800000 + row_number() OVER (ORDER BY o.id), o.id, CASE o.id % 4 WHEN 0 THEN 'invoice' WHEN 1 THEN 'paypal' ELSE 'card' END,
  sum(l.quantity * l.unit_price_cents), CASE WHEN o.status <> 'open' THEN datetime(o.placed_at, '+2 hours') END
FROM orders o JOIN order_lines l ON l.order_id = o.id WHERE o.status <> 'cancelled' GROUP BY o.id;

INSERT INTO shipments
SELECT 300000 + row_number() OVER (ORDER BY id), id, CASE id % 3 WHEN 0 THEN 'Post' WHEN 1 THEN 'Kurier Nord' ELSE 'own van' END,
  datetime(placed_at, '+1 day'), CASE WHEN status = 'delivered' THEN datetime(placed_at, '+' || (id % 4 + 2) || ' days') END
FROM orders WHERE channel = 'web' AND status <> 'cancelled';

INSERT INTO refunds
SELECT 40000 + row_number() OVER (ORDER BY l.order_id), l.order_id, l.line_no,
  CASE l.order_id % 4 WHEN 0 THEN 'defect' WHEN 1 THEN 'late' ELSE 'returned' END,
  l.quantity * l.unit_price_cents, CASE WHEN l.unit_price_cents > 50000 THEN 100 + l.order_id % 4 + 1 END,
  date(o.placed_at, '+' || (l.order_id % 12 + 6) || ' days'),
  CASE WHEN l.order_id < 500860 THEN date(o.placed_at, '+' || (l.order_id % 12 + 6 + l.order_id % 13) || ' days') END
FROM order_lines l JOIN orders o ON o.id = l.order_id
WHERE o.status = 'delivered' AND (l.order_id * 3 + l.line_no) % 11 = 0;
