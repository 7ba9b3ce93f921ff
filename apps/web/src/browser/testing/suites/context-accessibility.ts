import { beforeAll, expect, test } from "vitest";
import { SCREENS, Walk, type Places } from "../accessibility-walk.ts";
import type { PageStage } from "../page-stage.ts";

let stage: PageStage;
let places: Places;

async function findPlaces(): Promise<void> {
  const proposal = (await stage.api<{ data: { id: string; title: string }[] }>("/v1/proposals?limit=10")).data.find(
    ({ title }) => title === "Ingest of docs",
  );
  const job = (await stage.api<{ data: { id: string; kind: string }[] }>("/v1/jobs?limit=5")).data.find(
    ({ kind }) => kind === "scan",
  );
  places = {
    "what is known": ["/context", "Needs a decision"],
    "what was searched": ["/context?q=refund", "Refunds"],
    "nothing found": ["/context?q=zzzzzz", "No results"],
    wiki: ["/context/wiki", "Active customer"],
    "a page": ["/context/wiki/refunds", /refunds\.md/],
    tables: ["/context/tables", "addresses"],
    "a table": ["/context/tables/shop/main.orders", "handled_by"],
    "a join graph": ["/context/graph/shop/main.orders", /7 tables/],
    "all tables as a graph": ["/context/graph", /10 tables/],
    metrics: ["/context/metrics", "Late orders"],
    "a metric": ["/context/metrics/shop/order_value", "revenue / orders"],
    "a broken metric": ["/context/metrics/shop/late_orders", "This metric cannot be used"],
    "a query of metrics": ["/context/metrics/query?metrics=revenue,orders&by=time.month", /^\d+ rows in/],
    "a query as a table": ["/context/metrics/query?metrics=revenue&by=customer.country&view=table", /^\d+ rows in/],
    "a query with filters": [
      `/context/metrics/query?metrics=orders&where=${encodeURIComponent('[{"field":"order.status","op":"in","values":["open"]},{"field":"time","last":{"count":3,"unit":"month"}}]')}`,
      "Choose values",
    ],
    "a refused query": ["/context/metrics/query?metrics=customers&by=order.status", /^Refused/],
    SQL: ["/context/sql", "History"],
    "a new source": ["/context/sources/new", "Save is available after a successful test."],
    proposals: ["/context/proposals", "Ingest of docs"],
    "a proposal": [`/context/proposals/${proposal!.id}`, "Who is an active customer?"],
    memory: ["/context/memory", "Remember this"],
    jobs: ["/context/jobs", /ingest/i],
    "a job": [`/context/jobs/${job!.id}`, /tables/i],
    sources: ["/context/sources", "Databases"],
  };
}

/** See `context-pages.extended.test.ts`. */
export function testContextAccessibility(shared: () => PageStage): void {
  beforeAll(async () => {
    stage = shared();
    await findPlaces();
  });

  test.each(Object.entries(SCREENS))("accessible and fitting the screen: %s", async (_, screen) => {
    const violations = await Walk.take(stage, places, screen, async (walk) => {
      for (const name of Object.keys(places)) await walk.visit(name);
    });
    expect(violations).toEqual({});
  });
}
