export type {
  Agents,
  Engine,
  Environments,
  FeedItem,
  FeedSession,
  Files,
  Model,
  SessionFolder,
  Sessions,
} from "./engine.ts";
