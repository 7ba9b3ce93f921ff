import { afterAll, expect, test } from "vitest";
import type { PageStage } from "../page-stage.ts";
import { COMPARISON, REPLAY, reportPath } from "../sample-reports.ts";

export function testReports(shared: () => PageStage): void {
  afterAll(() => shared().reset());

  test("shows a report of a link and of a file: the step that differs, and two runs side by side", async () => {
    const stage = shared();
    const page = await stage.open(reportPath(REPLAY));
    await page.getByText("Step 2 of 3 (call) differs.").waitFor();
    await page.getByText("text: Exit code 3").waitFor();
    await page.getByText("text: Exit code 4").waitFor();
    const give = (name: string, text: string) =>
      page.getByLabel("Report", { exact: true }).setInputFiles({
        name,
        mimeType: "application/json",
        buffer: Buffer.from(text),
      });
    await give("compared.json", JSON.stringify(COMPARISON));
    await page.getByRole("cell", { name: "Two tests fail." }).waitFor();
    await page.getByRole("region", { name: "Files" }).getByText("two").waitFor();
    await give("other.json", '{"report":"replay"}');
    await page.getByRole("alert").getByText("The file is not a report.").waitFor();
    expect(stage.pageErrors()).toEqual([]);
  });
}
