"""Parts of `Tx.cuda` and its neighbours, a topic a file; `tirx_cuda.script` joins those that are `Tx.cuda`'s own."""
