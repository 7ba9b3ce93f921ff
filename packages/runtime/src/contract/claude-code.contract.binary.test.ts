import { claudeCodeFixture } from "./claude-code-fixture.ts";
import { runtimeContract } from "./runtime.contract.ts";

runtimeContract(claudeCodeFixture);
