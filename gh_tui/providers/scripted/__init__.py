"""A model server that answers from a script, over real HTTP on this machine.

It speaks the OpenAI chat wire with the manners and the faults of real servers, so that a demo
needs no model and a test meets what happens in the field. A script is a list of replies, one for
each request in turn; as a file it is JSON::

    {"model": "scripted", "window": 32768, "repeat": false, "replies": [
      {"text": "Let me look.", "calls": [{"name": "list_files", "arguments": {"path": "."}}]},
      {"reasoning": "Two files.", "text": "There are two files.", "chunk_delay": 0.05}
    ]}

or the bare list. The fields of a reply are those of `Reply`; all may be left out. With `repeat`
the script starts again at its end; otherwise a further request is answered with status 400. In
Python a script may also be a function `(request, number) -> reply`, plain or async, with numbers
from 0.

Run one by hand: `python -m gh_tui.providers.scripted --script FILE --port 8765`.
"""

from gh_tui.providers.scripted.script import Reply, Script, ScriptFile, load_script
from gh_tui.providers.scripted.server import RecordedRequest, ScriptedServer

__all__ = ["RecordedRequest", "Reply", "Script", "ScriptFile", "ScriptedServer", "load_script"]
