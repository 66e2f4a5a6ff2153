// The program *Basic usage with selective tool approval* that the npm package langchain 1.5.14 shows beside humanInTheLoopMiddleware in
// dist/agents/middleware/hitl.d.ts, Copyright (c) LangChain, Inc., MIT License. Changed: the model and the tools, which it leaves to its
// reader, are imported, a checkpointer is added, without which the package throws "No checkpointer set", and the agent is exported.
import { humanInTheLoopMiddleware } from "langchain";
import { createAgent } from "langchain";
import { MemorySaver } from "@langchain/langgraph";
import { model, readFileTool, writeFileTool } from "./supplied-langchain.ts";

const hitlMiddleware = humanInTheLoopMiddleware({
  interruptOn: {
    // Interrupt write_file tool and allow edits or approvals
    "write_file": {
      allowedDecisions: ["approve", "edit"],
      description: "⚠️ File write operation requires approval"
    },
    // Auto-approve read_file tool
    "read_file": false
  }
});

const agent = createAgent({
  model: model,
  tools: [writeFileTool, readFileTool],
  middleware: [hitlMiddleware],
  checkpointer: new MemorySaver()
});

export { agent };
