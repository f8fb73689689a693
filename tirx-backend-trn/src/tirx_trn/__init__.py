"""The AWS Trainium backend of TIRx; `plugin` holds its rows and is imported by name, when something asks for it."""
