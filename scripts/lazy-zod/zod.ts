export * as z from "./schemas.ts";
