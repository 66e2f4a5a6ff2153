// The program *Basic usage with selective tool approval* that the npm package langchain 1.5.14 shows beside humanInTheLoopMiddleware in
// dist/agents/middleware/hitl.d.ts, Copyright (c) LangChain, Inc., MIT License. Changed: the model and the tools, which it leaves to its
// reader, are imported, a checkpointer is added, without which the package throws "No checkpointer set", and the agent is exported.
import { createAgent } from "langchain";
import { MemorySaver } from "@langchain/langgraph";
import { model, readFileTool, writeFileTool } from "./supplied-langchain.ts";
import { gate } from "../../packages/client/src/gate/langchain.ts";
import { createClient } from "../../packages/client/src/index.ts";

const client = createClient({ baseUrl: process.env.COUNTERSIGN_URL ?? "", key: process.env.COUNTERSIGN_KEY });
const agent = createAgent({
  model: model,
  tools: [gate(client, writeFileTool, { register: true }), readFileTool],
  checkpointer: new MemorySaver()
});

export { agent };
