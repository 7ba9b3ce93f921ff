// Adds a compatible migration to the program that imports this first, so that it acts like the next release.
import { registerHooks } from "node:module";

const VERSION = "SCHEMA_VERSION = MIGRATIONS.length";
const NEXT =
  'MIGRATIONS.push({ compatible: true, statements: () => ["alter table session add column next_release text"] })';

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    // CommonJS modules may have none.
    const source = loaded.source ? Buffer.from(loaded.source).toString() : "";
    if (!source.includes(VERSION)) return loaded;
    return { ...loaded, source: source.replace(VERSION, `SCHEMA_VERSION = (${NEXT}, MIGRATIONS.length)`) };
  },
});
