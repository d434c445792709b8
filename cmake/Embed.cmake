# Texts of the source tree, compiled in.

# eignn_embed_recipes(OUTPUT FILES...): a C++ file that holds each recipe under its path in recipes/, less the ending.
function(eignn_embed_recipes output)
  set(text "// Made from recipes/ by cmake/Embed.cmake.\n#include \"run/recipes.h\"\n\nnamespace eignn {\n\n")
  string(APPEND text "const std::vector<EmbeddedRecipe>& embedded_recipes() {\n  static const std::vector<EmbeddedRecipe> all = {\n")
  foreach(file IN LISTS ARGN)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/recipes ${file})
    string(REGEX REPLACE "\\.toml$" "" name ${name})
    file(READ ${file} content)
    string(APPEND text "      {\"${name}\", R\"recipe(${content})recipe\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  string(APPEND text "  };\n  return all;\n}\n\n}  // namespace eignn\n")
  file(CONFIGURE OUTPUT ${output} CONTENT "${text}" @ONLY)
endfunction()

# eignn_embed_text(OUTPUT FUNCTION FILE): const char* eignn::FUNCTION() returns the file's text.
function(eignn_embed_text output function file)
  file(READ ${file} content)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(CONFIGURE OUTPUT ${output} CONTENT "namespace eignn {
const char* ${function}() { return R\"embedded(${content})embedded\"; }
}  // namespace eignn
" @ONLY)
endfunction()
