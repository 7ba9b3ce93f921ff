import { object, text, toolUse } from "tandem-agent-rehearsal";

export default [
  text("The Rhine."),
  object({ name: "Rhine", lengthKm: 1230 }, { tool: "mcp__tandem__answer" }),
  toolUse("mcp__tandem__length", { river: "Rhine" }),
  text("The Rhine is 1,230 km long."),
];
