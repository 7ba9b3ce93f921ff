import { z } from "zod";
import { defineTool } from "../tool.ts";

/** A tool that records its inputs. */
export function lookTool() {
  const asked: string[] = [];
  const look = defineTool({
    name: "look",
    description: "Looks at a place.",
    schema: z.object({ at: z.string() }),
    execute: async ({ at }) => {
      asked.push(at);
      return { markdown: `You see ${at}.` };
    },
  });
  return { asked, look };
}
