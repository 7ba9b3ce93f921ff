import { sqliteFixture } from "../testing/sqlite-fixture.ts";
import { storeContract } from "./store.contract.ts";

storeContract("sqlite", () => Promise.resolve(sqliteFixture()));
