// A helper: the scripted model. `Run COMMAND` makes it call Bash, `Write FILE` Write. It answers `Wait.` after
// a second, `Talk.` at length, and everything else at once.
import { slowly, startRehearsal, text, toolUse } from "@tandem/rehearsal";
import { z } from "zod";
import { helperTask, say } from "../server/helper.ts";

helperTask(z.object({}));
const rehearsal = await startRehearsal(({ lastUserText, toolResults }) => {
  const [word, rest = ""] = lastUserText.split(/ (.*)/s);
  if (toolResults.length > 0) return text("Done.");
  if (word === "Run") return toolUse("Bash", { command: rest });
  if (word === "Write") return toolUse("Write", { file_path: rest, content: "written\n" });
  if (word === "Talk.") return slowly(text("word ".repeat(300)), { tokenMs: 5 });
  return word === "Wait." ? slowly(text("Done."), { firstByteMs: 1_000 }) : text("Done.");
});
say({ url: rehearsal.url });
