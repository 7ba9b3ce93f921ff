import { expect, test } from "vitest";
import { redactUrl } from "./connection-location.ts";

test.each([
  ["postgres://127.0.0.1/crm", "postgres://127.0.0.1/crm"],
  ["postgres://ada@db/crm?sslmode=verify-full", "postgres://ada@db/crm?sslmode=verify-full"],
  ["postgres://ada:sesame@db/crm", "postgres://ada:***@db/crm"],
  ["mysql://db/crm?user=a&password=sesame&x=1", "mysql://db/crm?user=a&password=***&x=1"],
  ["postgres://db/crm?sslpassword=sesame", "postgres://db/crm?sslpassword=***"],
  ["env:CRM_URL", "env:CRM_URL"],
])("%s is shown without a secret", (url, shown) => {
  expect(redactUrl(url)).toBe(shown);
});
