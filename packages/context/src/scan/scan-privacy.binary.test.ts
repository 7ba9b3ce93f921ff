import { describe, expect, test } from "vitest";
import { describeAll, nameJoins } from "./testing/scan-answers.ts";
import { openScanStage } from "./testing/scan-stage.ts";
import { sharedBackend } from "./testing/shared-backend.ts";

const backend = await sharedBackend();

describe("values that may not be stored", () => {
  const SECRETS = `
    CREATE TABLE people (id INTEGER PRIMARY KEY, full_name TEXT, contact TEXT, iban TEXT, city TEXT, note TEXT);
    INSERT INTO people VALUES (1, 'Petra Zwiebelfisch', 'petra.zwiebel@example.com', 'DE89370400440532013000', 'Quakenbrück', 'calls often');
    INSERT INTO people VALUES (2, 'Jens Knallfrosch', 'jens.knall@example.com', 'GB82WEST12345698765432', 'Quakenbrück', 'write to jens.knall@example.com');
    CREATE TABLE marks (id INTEGER PRIMARY KEY, target_type TEXT, target_id INTEGER, grade TEXT);
    INSERT INTO marks VALUES (1, 'people', 1, 'gradeXYZ'), (2, 'people', 2, 'gradeXYZ'), (3, 'people', 1, 'gradeXYZ');
  `;
  const FORBIDDEN = ["wiebel", "nall", "DE8937", "WEST1234", "gradeXYZ", "Where target_type is"];

  test("reach no file, git object, prompt, event or record", async () => {
    await using stage = await openScanStage(SECRETS, backend);
    const { state, result, events } = await stage.scan({
      script: [describeAll(), nameJoins()],
      scan: { samples: { "shop/main.marks": "none", "shop/main.people.city": "values" } },
    });
    expect(state, JSON.stringify(events)).toMatch(/done|partly/);
    expect(result.privacy).toEqual({
      personal: [
        { column: "main.people.full_name", kind: "name of a person" },
        { column: "main.people.contact", kind: "e-mail address" },
        { column: "main.people.iban", kind: "bank account or card" },
      ],
      configured: 4,
      unmatchedPatterns: [],
    });
    const columns = (await stage.file("people"))?.columns ?? [];
    expect(columns.find(({ name }) => name === "contact")?.profile).toMatchObject({
      stored: "shapes",
      personal: "e-mail address",
      shapes: ["aaaa.aaaa@aaaa.aaa"],
    });
    expect(columns.find(({ name }) => name === "city")?.profile?.samples).toEqual(["Quakenbrück"]);
    const everything = [
      ...backend.rehearsal.modelRequests.map((request) => JSON.stringify(request)),
      JSON.stringify(events),
      await stage.storedText(),
    ].join("\n");
    expect(everything).toContain("Quakenbrück");
    for (const text of FORBIDDEN) expect(everything).not.toContain(text);
  });
});
