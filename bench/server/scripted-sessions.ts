// A helper: the real server, engine and store, with a scripted stand-in where Claude Code would be.
import { z } from "zod";
import { helperTask, say } from "./helper.ts";
import { scriptedConversation } from "./scripted-conversation.ts";
import { setStage } from "./stage.ts";

const { folder } = helperTask(z.object({ folder: z.string() }));
const { server, token } = await setStage(folder, scriptedConversation);
say({ url: server.url, token });
